package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// maxRecord is the largest data of a Secret; Helm keeps a release in one.
const maxRecord = 1 << 20

// known is what Helm's storage tells of a release.
type known struct {
	// last is the newest revision, nil when there is none.
	last *release.Release
	// base is the revision whose manifest an upgrade starts from, nil for an install.
	base *release.Release
}

func history(cfg *action.Configuration, id resource.ID) (known, error) {
	last, err := cfg.Releases.Last(id.Name)
	switch {
	case errors.Is(err, driver.ErrReleaseNotFound):
		return known{}, nil
	case err != nil:
		return known{}, fmt.Errorf("%s: read its records (Secrets of namespace %s): %w", id, id.Namespace, err)
	}
	k := known{last: last}
	switch last.Info.Status {
	case release.StatusDeployed:
		k.base = last
	case release.StatusUninstalled:
	default:
		k.base, err = cfg.Releases.Deployed(id.Name)
		if errors.Is(err, driver.ErrNoDeployedReleases) || errors.Is(err, driver.ErrReleaseNotFound) {
			k.base, err = last, nil
		}
		if err != nil {
			return known{}, fmt.Errorf("%s: read its records: %w", id, err)
		}
	}
	return k, nil
}

// recovery says how a stuck release gets going again, "" when it is not stuck. The error is for a
// release that somebody seems to be working on.
func (d *Driver) recovery(id resource.ID, last *release.Release, stack string) (string, error) {
	if last == nil {
		return "", nil
	}
	age := d.now().Sub(last.Info.LastDeployed.Time)
	status := last.Info.Status
	switch {
	case status == release.StatusUninstalling:
		return "its uninstall was interrupted: uninstall again, then install", nil
	case !status.IsPending():
		return "", nil
	case last.Labels[stackLabel] != stack && age < d.options.PendingAge:
		return "", fmt.Errorf("%s: %s since %s: somebody else is working on it; try again later (it counts as dead after %s)",
			id, status, age.Round(time.Second), d.options.PendingAge)
	}
	return fmt.Sprintf("revision %d is %s since %s and nobody works on it: mark it failed, then upgrade", last.Version, status, age.Round(time.Second)), nil
}

// recoverRelease does what recovery said.
func (d *Driver) recoverRelease(cfg *action.Configuration, id resource.ID, last *release.Release) error {
	if last.Info.Status == release.StatusUninstalling {
		return d.uninstall(cfg, id, 5*time.Minute)
	}
	was := last.Info.Status
	last.Info.Status = release.StatusFailed
	last.Info.Description = fmt.Sprintf("interrupted while %s; marked failed by mifbench", was)
	if err := cfg.Releases.Update(last); err != nil {
		return fmt.Errorf("%s: mark revision %d failed: %w", id, last.Version, err)
	}
	return nil
}

// recordSize is the size of the Secret's data that Helm would store.
func recordSize(r *release.Release) (int, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return 0, fmt.Errorf("record of release %s: %w", r.Name, err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return 0, fmt.Errorf("record of release %s: %w", r.Name, err)
	}
	if _, err := w.Write(text); err != nil {
		return 0, fmt.Errorf("record of release %s: %w", r.Name, err)
	}
	if err := w.Close(); err != nil {
		return 0, fmt.Errorf("record of release %s: %w", r.Name, err)
	}
	return base64.StdEncoding.EncodedLen(packed.Len()), nil
}

// checkSize explains before install what Helm reports afterwards as "data: Too long"; the
// warning is for a record that is nearly full.
func checkSize(id resource.ID, r rendering, values map[string]any) (warning string, err error) {
	n, err := recordSize(&release.Release{
		Name: id.Name, Namespace: id.Namespace, Version: 1, Chart: r.chart, Config: values, Manifest: r.manifest, Hooks: r.hooks,
		Info: &release.Info{Status: release.StatusDeployed, Description: "Install complete"},
	})
	if err != nil {
		return "", err
	}
	share := 100 * float64(n) / maxRecord
	switch {
	case n > maxRecord:
		return "", fmt.Errorf("%s: Helm keeps a release in one Secret of at most %d bytes and this one needs %d (%.0f %%): apply the chart's large objects (CRDs) as manifest blocks, or use an older or split chart", id, maxRecord, n, share)
	case share > 90:
		warning = fmt.Sprintf("%s: its record fills %.0f %% of the one Secret that Helm may use (%d of %d bytes)", id, share, n, maxRecord)
	}
	return warning, nil
}

// List implements deploy.Lister by the label on the releases' records. They are few and asked for in
// one request; only a user who may not do that is held to the scope's namespaces.
func (d *Driver) List(ctx context.Context, stack string, in deploy.Scope) ([]deploy.Found, error) {
	if !validLabel(stack) {
		return nil, nil // no record can carry it
	}
	var out []deploy.Found
	all, err := d.labelled(ctx, "", stack)
	if apierrors.IsForbidden(err) {
		text := "no right to list the records of releases (Secrets) in all namespaces: looked at in " + cmp.Or(strings.Join(in.Namespaces, ", "), "none")
		out, err = append(out, deploy.Found{ID: resource.ID{APIVersion: APIVersion, Kind: Kind}, Warning: text}), nil
		for _, ns := range in.Namespaces {
			some, failed := d.labelled(ctx, ns, stack)
			if !apierrors.IsForbidden(failed) {
				all, err = append(all, some...), errors.Join(err, failed)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the releases of stack %s: %w", stack, err)
	}
	for _, r := range lastRevisions(all) {
		f := deploy.Found{
			ID:      resource.ID{Driver: resource.DriverHelm, APIVersion: APIVersion, Kind: Kind, Namespace: r.Namespace, Name: r.Name},
			Owner:   stack,
			Address: addressOf(r.Labels), Created: true, DependsOn: dependsOn(r),
		}
		if list, err := d.children(r.Manifest, r.Namespace); err == nil {
			f.Facts = map[string]any{"children": encodeChildren(list), "version": r.Chart.Metadata.Version}
		}
		out = append(out, f)
	}
	return out, nil
}

// lastRevisions leaves the last revision of each release.
func lastRevisions(all []*release.Release) []*release.Release {
	last := map[string]*release.Release{}
	for _, r := range all {
		key := r.Namespace + "/" + r.Name
		if last[key] == nil || last[key].Version < r.Version {
			last[key] = r
		}
	}
	out := make([]*release.Release, 0, len(last))
	for _, key := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[key])
	}
	return out
}

// labelled are the revisions of a stack's releases in a namespace, or ("") in all.
func (d *Driver) labelled(ctx context.Context, namespace, stack string) ([]*release.Release, error) {
	cfg, err := d.cluster.action(ctx, namespace)
	if err != nil {
		return nil, err
	}
	all, err := cfg.Releases.Query(map[string]string{"owner": "helm", stackLabel: stack})
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, nil
	}
	return all, err
}
