package helm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// seeCRDs looks at the chart's crds/. Helm adds the missing ones with the first revision and
// never touches them again; with upgrade_crds apply makes them what the chart ships.
func (d *Driver) seeCRDs(ctx context.Context, q deploy.Query, r rendering, s resource.ReleaseSpec, k known, obs *plan.Observation) error {
	if s.SkipCRDs || len(r.crds) == 0 {
		return nil
	}
	list, err := d.look(ctx, q, r.crds, nil, &plan.Observation{})
	if err != nil {
		return err
	}
	for _, c := range list {
		stale := c.Exists && !same(c.Live, c.Predicted)
		switch {
		case stale && s.UpgradeCRDs:
			obs.Children = append(obs.Children, c)
			obs.Warnings = append(obs.Warnings, removedVersions(c)...)
		case !c.Exists && (k.base == nil || s.UpgradeCRDs):
			obs.Children = append(obs.Children, c)
		case !c.Exists:
			obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: missing, and Helm installs a chart's crds/ only with the first revision: set upgrade_crds = true", c.ID))
		case stale:
			obs.Notes = append(obs.Notes, fmt.Sprintf("%s: the chart ships another one than the cluster has (%s); Helm never upgrades crds/: set upgrade_crds = true to apply it", c.ID, compareVersions(c)))
		}
	}
	return nil
}

// seeKept names the objects that an uninstall leaves because the chart wants it so.
func (d *Driver) seeKept(ctx context.Context, q deploy.Query, kept []child, obs *plan.Observation) error {
	seen, err := d.look(ctx, q, kept, nil, nil)
	var names []string
	for _, c := range seen {
		if c.Exists {
			names = append(names, c.ID.String())
		}
	}
	if len(names) > 0 {
		obs.Notes = append(obs.Notes, fmt.Sprintf("%d object(s) stay, since the chart keeps them (%s): %s", len(names), keepPolicy, someOf(names, maxHooks)))
	}
	return err
}

// seeLeftCRDs names the definitions that an uninstall leaves: those of crds/ are nobody's in Helm, since
// deleting them deletes every object of their kinds.
func (d *Driver) seeLeftCRDs(ctx context.Context, q deploy.Query, k known, obs *plan.Observation) error {
	var list []child
	for _, crd := range k.last.Chart.CRDObjects() {
		some, err := d.children(string(crd.File.Data), obs.ID.Namespace)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", obs.ID, crd.Filename, err)
		}
		list = append(list, some...)
	}
	seen, err := d.look(ctx, q, list, nil, nil)
	for _, c := range seen {
		if c.Exists {
			obs.Notes = append(obs.Notes, fmt.Sprintf("%s stays: it comes from the chart's crds/, which Helm never deletes", c.ID))
		}
	}
	return err
}

// compareVersions says in a few words how the chart's definition differs from the cluster's.
func compareVersions(c plan.Observation) string {
	has, ships := servedVersions(c.Live), servedVersions(c.Predicted)
	if slices.Equal(has, ships) {
		return fmt.Sprintf("both serve %s, %d field(s) differ", strings.Join(has, ", "), len(differing("", c.Live, c.Predicted)))
	}
	return fmt.Sprintf("it serves %s, the cluster's serves %s", strings.Join(ships, ", "), strings.Join(has, ", "))
}

// removedVersions warns when the chart's definition is the older one.
func removedVersions(c plan.Observation) []string {
	ships := servedVersions(c.Predicted)
	var out []string
	for _, v := range servedVersions(c.Live) {
		if !slices.Contains(ships, v) {
			out = append(out, fmt.Sprintf("%s: the chart's definition does not serve %s, which the cluster's does: objects of that version become unreachable", c.ID, v))
		}
	}
	return out
}

func servedVersions(crd map[string]any) []string {
	list, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	var out []string
	for _, v := range list {
		m, _ := v.(map[string]any)
		if served, _ := m["served"].(bool); served {
			out = append(out, fmt.Sprint(m["name"]))
		}
	}
	return out
}

// upgradeCRDs makes the definitions that the plan showed as the chart has them, before anything
// that may need them, and waits until they are served. The missing ones of a first revision are
// left to Helm.
func (d *Driver) upgradeCRDs(ctx context.Context, r deploy.Request, ren rendering, now plan.Observation, install bool) error {
	pending := map[string]bool{}
	for _, c := range now.Children {
		pending[c.ID.Key()] = c.Predicted != nil && !same(c.Live, c.Predicted) && (c.Exists || !install)
	}
	var done []resource.ID
	for _, c := range ren.crds {
		if !pending[c.id.Key()] {
			continue
		}
		if err := d.objects.Merge(ctx, resource.Object{ID: c.id, Spec: c.spec}, nil); err != nil {
			return fmt.Errorf("%s: %w", r.Want.ID, err)
		}
		done = append(done, c.id)
	}
	if len(done) == 0 {
		return nil
	}
	err := d.waitEach(ctx, done, nil, func(id resource.ID) deploy.Request {
		return deploy.Request{Query: deploy.Query{Want: &resource.Object{ID: id}, Stack: r.Stack}}
	})
	d.cluster.refresh()
	if err != nil {
		return fmt.Errorf("%s: %w", r.Want.ID, err)
	}
	return nil
}
