package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/postrender"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// hookTimeout bounds Helm's own waits (for hooks) when the block sets no timeout.
const hookTimeout = 10 * time.Minute

// historyLimit is how many revisions are kept, as the helm command line does.
const historyLimit = 10

// Apply implements deploy.Driver: recover when planned, then install, upgrade or heal exactly
// what the plan pinned. Helm does not wait: Wait does.
func (d *Driver) Apply(ctx context.Context, r deploy.Request) (deploy.Result, error) {
	if r.Want == nil {
		panic("helm: apply without a wanted release")
	}
	id := r.Want.ID
	d.cluster.refresh()
	cfg, err := d.cluster.action(ctx, id.Namespace)
	if err != nil {
		return deploy.Result{}, err
	}
	k, err := history(cfg, id)
	if err != nil {
		return deploy.Result{}, err
	}
	if err := d.mayApply(r, k); err != nil {
		return deploy.Result{}, err
	}
	now := r.Seen
	if !stillSeen(r, k) {
		if k, err = d.clear(ctx, cfg, r, k); err != nil {
			return deploy.Result{}, err
		}
		if now, err = d.lookAgain(ctx, r, k); err != nil {
			return deploy.Result{}, err
		}
	}
	if err := d.act(ctx, cfg, r, k, now); err != nil {
		return deploy.Result{}, err
	}
	d.cluster.refresh()
	return d.result(cfg, r, k, now)
}

// stillSeen tells that the release is where the plan saw it, so that what apply will do with each
// object is known already and need not be asked for again.
func stillSeen(r deploy.Request, k known) bool {
	version := ""
	if k.last != nil && k.last.Info.Status != release.StatusUninstalled {
		version = fmt.Sprint(k.last.Version)
	}
	return r.Seen.Facts["action"] != nil && r.Seen.Version == version && r.Seen.Recover == "" && !r.Seen.Terminating && !r.Replace
}

// lookAgain predicts anew and holds the result to what the plan showed.
func (d *Driver) lookAgain(ctx context.Context, r deploy.Request, k known) (plan.Observation, error) {
	now := plan.Observation{ID: r.Want.ID}
	d.seeRelease(&now, k, r.Query)
	if err := d.predict(ctx, r.Query, k, &now, pinOf(r.Seen.Facts)); err != nil {
		return now, err
	}
	return now, asPlanned(r, now)
}

// mayApply refuses a release that is not ours or that moved since the plan.
func (d *Driver) mayApply(r deploy.Request, k known) error {
	id := r.Want.ID
	if k.last == nil || k.last.Info.Status == release.StatusUninstalled {
		if r.Seen.Exists && r.Seen.Recover == "" && !r.Replace {
			return fmt.Errorf("%s: uninstalled meanwhile: %w; plan again", id, deploy.ErrChanged)
		}
		return nil
	}
	if err := ours(r.Query, k.last); err != nil {
		return err
	}
	if version := fmt.Sprint(k.last.Version); r.Seen.Version != version && !resumable(r, k.last) {
		return fmt.Errorf("%s: %w: the plan saw revision %s, now it is %s; plan again", id, deploy.ErrChanged, orNone(r.Seen.Version), version)
	}
	return nil
}

// resumable tells that the newer revision is our own unrecorded one, of a step that died.
func resumable(r deploy.Request, last *release.Release) bool {
	return !r.Seen.Exists && last.Labels[stackLabel] == r.Stack
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func ours(q deploy.Query, last *release.Release) error {
	id, owner := releaseID(q), last.Labels[stackLabel]
	adopt := q.Want != nil && q.Want.Options.Adopt
	switch {
	case owner == q.Stack, owner == "" && (q.Prior != nil || adopt):
		return nil
	case owner != "":
		return fmt.Errorf("%s: %w: it belongs to the stack %q", id, deploy.ErrNotOurs, owner)
	}
	return fmt.Errorf("%s: %w (chart %s %s, revision %d); import it, set adopt = true, or choose another name",
		id, deploy.ErrNotOurs, last.Chart.Name(), last.Chart.Metadata.Version, last.Version)
}

// clear recovers a stuck release and removes one that is to be replaced.
func (d *Driver) clear(ctx context.Context, cfg *action.Configuration, r deploy.Request, k known) (known, error) {
	id := r.Want.ID
	if k.last == nil {
		return k, nil
	}
	if k.last.Info.Status.IsPending() || k.last.Info.Status == release.StatusUninstalling {
		if r.Seen.Recover == "" {
			return k, fmt.Errorf("%s: %w: it is %s now; plan again", id, deploy.ErrChanged, k.last.Info.Status)
		}
		if err := d.recoverRelease(cfg, id, k.last); err != nil {
			return k, err
		}
	}
	if r.Replace {
		list, err := d.children(k.last.Manifest, id.Namespace)
		if err != nil {
			return k, fmt.Errorf("%s: %w", id, err)
		}
		if err := d.uninstall(cfg, id, hookTimeout); err != nil {
			return k, err
		}
		if err := d.waitChildrenGone(ctx, decodeChildren(encodeChildren(list)), r.Want.Options.DeleteTimeout, nil); err != nil {
			return k, err
		}
	}
	return history(cfg, id)
}

// asPlanned holds apply to what the plan showed: chart content and rendered text.
func asPlanned(r deploy.Request, now plan.Observation) error {
	held := []string{"version", "digest", "manifest"}
	if r.Replace {
		held = held[:2] // a chart may render its first revision differently
	}
	for _, f := range held {
		was, ok := r.Seen.Facts[f].(string)
		if ok && was != now.Facts[f] {
			return moved(r.Want.ID, f)
		}
	}
	return nil
}

func moved(id resource.ID, what string) error {
	return fmt.Errorf("%s: %w: the chart's %s differs from the plan's (what its templates look up may have changed); plan again", id, deploy.ErrChanged, what)
}

// act does what decide found. Custom resources that drifted are merged after Helm is done,
// because Helm compares them with its record only.
func (d *Driver) act(ctx context.Context, cfg *action.Configuration, r deploy.Request, k known, now plan.Observation) error {
	s := spec(r.Want)
	p, err := d.charts.resolve(ctx, s, pinOf(now.Facts))
	if err != nil {
		return fmt.Errorf("%s: %w", r.Want.ID, err)
	}
	ren, err := d.renderFor(ctx, p, s, r.Query, k, &plan.Observation{ID: r.Want.ID})
	if err != nil {
		return fmt.Errorf("%s: %w", r.Want.ID, err)
	}
	if was, ok := now.Facts["manifest"].(string); ok && was != ren.fingerprint(r.Salt) {
		return moved(r.Want.ID, "manifest")
	}
	todo := fmt.Sprint(now.Facts["action"])
	if err := d.upgradeCRDs(ctx, r, ren, now, todo == doInstall); err != nil {
		return err
	}
	stop := d.followHooks(ctx, cfg, r, ren.hooks)
	switch todo {
	case doInstall:
		err = d.install(ctx, cfg, r, s, p, ren, k)
	case doUpgrade:
		err = d.upgrade(ctx, cfg, r, s, p, ren)
	case doOwn, doHeal:
		err = own(cfg, r.Query, k.last)
	}
	stop()
	if err != nil {
		err = d.explain(ctx, r.Want.ID, todo, err)
		err = d.explainHooks(ctx, cfg, r.Want.ID, err)
		if s.Atomic && !errors.Is(err, deploy.ErrChanged) {
			err = d.rollBack(ctx, r.Want.ID, err)
		}
		return err
	}
	objects := ren.objects
	if len(ren.unstable) > 0 && todo != doHeal { // Helm has rendered anew
		if objects, err = d.recorded(cfg, r.Want.ID); err != nil {
			return err
		}
	}
	return d.heal(ctx, r.Query, objects, now, todo == doHeal)
}

// own writes our labels on a record that lacks them, as an upgrade would.
func own(cfg *action.Configuration, q deploy.Query, last *release.Release) error {
	if last.Labels[stackLabel] == q.Stack {
		return nil
	}
	merged := maps.Clone(last.Labels)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, labels(q))
	maps.DeleteFunc(merged, func(_, v string) bool { return v == "null" })
	last.Labels = merged
	mark(last.Chart, q.Want)
	if err := cfg.Releases.Update(last); err != nil {
		return fmt.Errorf("label the record of revision %d: %w", last.Version, err)
	}
	return nil
}

// recorded are the objects of the newest revision as its record has them.
func (d *Driver) recorded(cfg *action.Configuration, id resource.ID) ([]child, error) {
	last, err := cfg.Releases.Last(id.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: read its record: %w", id, err)
	}
	list, err := d.children(last.Manifest, id.Namespace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return list, nil
}

// postRenderer holds Helm to what was planned.
func (d *Driver) postRenderer(id resource.ID, ren rendering) postrender.PostRenderer {
	if len(ren.unstable) > 0 {
		return likePlanned{d, id, ren}
	}
	return exactly(ren.manifest)
}

// exactly is a post-renderer that puts the planned text in the place of what Helm rendered.
type exactly string

// Run implements postrender.PostRenderer.
func (e exactly) Run(*bytes.Buffer) (*bytes.Buffer, error) {
	return bytes.NewBufferString(string(e)), nil
}

func (d *Driver) install(_ context.Context, cfg *action.Configuration, r deploy.Request, s resource.ReleaseSpec, p pinned, ren rendering, k known) error {
	ch, err := p.load()
	if err != nil {
		return fmt.Errorf("chart %s: %w", where(s), err)
	}
	a := action.NewInstall(cfg)
	a.ReleaseName, a.Namespace, a.CreateNamespace = r.Want.ID.Name, r.Want.ID.Namespace, s.CreateNamespace
	a.Timeout = orDefault(r.Want.Options.CreateTimeout)
	a.SkipCRDs, a.TakeOwnership = s.SkipCRDs, s.TakeOwnership || r.Want.Options.Adopt
	a.Replace = k.last != nil
	a.Labels, a.PostRenderer = labels(r.Query), d.postRenderer(r.Want.ID, ren)
	maps.DeleteFunc(a.Labels, func(_, v string) bool { return v == "null" })
	mark(ch, r.Want)
	// The client stops by itself when ctx ends; Helm's own reaction to a context would leave its
	// worker running behind our back.
	_, err = a.Run(ch, copyTree(s.Values))
	return err
}

func (d *Driver) upgrade(_ context.Context, cfg *action.Configuration, r deploy.Request, s resource.ReleaseSpec, p pinned, ren rendering) error {
	ch, err := p.load()
	if err != nil {
		return fmt.Errorf("chart %s: %w", where(s), err)
	}
	a := action.NewUpgrade(cfg)
	a.Namespace, a.ResetValues, a.MaxHistory = r.Want.ID.Namespace, true, historyLimit
	a.Timeout = orDefault(r.Want.Options.UpdateTimeout)
	a.SkipCRDs, a.TakeOwnership = s.SkipCRDs, s.TakeOwnership
	a.Labels, a.PostRenderer = labels(r.Query), d.postRenderer(r.Want.ID, ren)
	mark(ch, r.Want)
	_, err = a.Run(r.Want.ID.Name, ch, copyTree(s.Values))
	return err
}

func orDefault(t time.Duration) time.Duration {
	if t == 0 {
		return hookTimeout
	}
	return t
}

func (d *Driver) explain(ctx context.Context, id resource.ID, todo string, err error) error {
	what := fmt.Sprintf("%s %s", todo, id)
	switch text := err.Error(); {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: stopped; the next apply goes on: %w", what, ctx.Err())
	case strings.Contains(text, "Too long: may not be more than"):
		return fmt.Errorf("%s: Helm keeps a release in one Secret of 1 MiB and this one does not fit; apply the chart's CRDs as manifest blocks: %w", what, err)
	case strings.Contains(text, "cannot be imported into the current release"):
		return fmt.Errorf("%s: %w: an object of the chart exists without this release's marks; delete it, or set take_ownership = true: %w", what, deploy.ErrNotOurs, err)
	case strings.Contains(text, "another operation (install/upgrade/rollback) is in progress"):
		return fmt.Errorf("%s: %w: somebody else started an operation on it; plan again: %w", what, deploy.ErrChanged, err)
	case strings.Contains(text, "is forbidden"):
		return fmt.Errorf("%s: %w: %w", what, deploy.ErrForbidden, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (d *Driver) result(cfg *action.Configuration, r deploy.Request, k known, now plan.Observation) (deploy.Result, error) {
	last, err := cfg.Releases.Last(r.Want.ID.Name)
	if err != nil {
		return deploy.Result{}, fmt.Errorf("%s: read its record: %w", r.Want.ID, err)
	}
	facts := map[string]any{}
	for key, v := range now.Facts {
		if key != "action" {
			facts[key] = v
		}
	}
	facts["revision"] = fmt.Sprint(last.Version)
	return deploy.Result{
		Created: k.base == nil, Facts: facts,
		Fingerprint: state.Fingerprint(r.Salt, r.Want.Spec), Warnings: unsaid(now.Warnings, r.Seen.Warnings),
	}, nil
}

// unsaid leaves out the warnings that the plan has shown.
func unsaid(now, before []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(w string) bool { return slices.Contains(before, w) })
}
