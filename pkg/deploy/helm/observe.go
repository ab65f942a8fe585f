package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// parallel is how many objects of one release are looked at or waited for at once.
const parallel = 4

// Observe implements deploy.Driver: the release's record, the chart at its pinned version, and
// every rendered object against live. Chart, values and status are the release's own two sides;
// the objects are Children.
func (d *Driver) Observe(ctx context.Context, q deploy.Query) (plan.Observation, error) {
	id := releaseID(q)
	obs := plan.Observation{ID: id}
	cfg, err := d.cluster.action(ctx, id.Namespace)
	if err != nil {
		return obs, err
	}
	k, err := history(cfg, id)
	if err != nil {
		return obs, err
	}
	d.seeRelease(&obs, k, q)
	if q.Want == nil {
		return obs, d.seeRecorded(ctx, q, k, &obs)
	}
	if obs.Recover, err = d.recovery(id, k.last, q.Stack); err != nil {
		return obs, err
	}
	if obs.Terminating {
		k.base = nil // what the interrupted uninstall leaves is uninstalled first
	}
	return obs, d.predict(ctx, q, k, &obs, pin{})
}

// seeRelease copies what the record tells.
func (d *Driver) seeRelease(obs *plan.Observation, k known, q deploy.Query) {
	r := k.last
	if r == nil || r.Info.Status == release.StatusUninstalled {
		return
	}
	obs.Exists = true
	obs.Version = fmt.Sprint(r.Version)
	obs.Owner = r.Labels[stackLabel]
	obs.Terminating = r.Info.Status == release.StatusUninstalling
	obs.Live = map[string]any{
		"chart": r.Chart.Name(), "version": r.Chart.Metadata.Version, "status": r.Info.Status.String(), "values": copyTree(r.Config),
	}
	if q.Prior != nil && q.Prior.Facts["revision"] == obs.Version {
		if digest, ok := q.Prior.Facts["digest"].(string); ok {
			obs.Live["digest"] = digest
		}
	}
	if r.Info.Status == release.StatusFailed {
		obs.Notes = append(obs.Notes, fmt.Sprintf("revision %d failed: %s", r.Version, r.Info.Description))
	}
}

// seeRecorded observes a release that is only to be deleted: its objects as they are.
func (d *Driver) seeRecorded(ctx context.Context, q deploy.Query, k known, obs *plan.Observation) error {
	if k.last == nil {
		return nil
	}
	list, err := d.children(k.last.Manifest, obs.ID.Namespace)
	if err != nil {
		return fmt.Errorf("%s: %w", obs.ID, err)
	}
	// Without the configuration nobody tells which values are secrets: none is shown.
	if values, ok := obs.Live["values"].(map[string]any); ok && len(values) > 0 {
		obs.Live["values"] = plan.Mask(state.Fingerprint(q.Salt, values)[:8])
	}
	hooks, err := d.hookObjects(k.last)
	if err != nil {
		return fmt.Errorf("%s: %w", obs.ID, err)
	}
	obs.Facts = map[string]any{"children": encodeChildren(append(slices.Clone(list), hooks...))}
	kept := slices.DeleteFunc(slices.Clone(list), func(c child) bool { return !c.keep })
	list = slices.DeleteFunc(list, func(c child) bool { return c.keep })
	if obs.Children, err = d.look(ctx, q, list, nil, nil); err != nil {
		return err
	}
	left, err := d.look(ctx, q, hooks, nil, nil)
	for _, c := range left {
		if c.Exists {
			obs.Children = append(obs.Children, c)
		}
	}
	if err != nil {
		return err
	}
	if err := d.seeKept(ctx, q, kept, obs); err != nil {
		return err
	}
	return d.seeLeftCRDs(ctx, q, k, obs)
}

// predict resolves, renders and compares; at apply the plan has pinned the chart.
func (d *Driver) predict(ctx context.Context, q deploy.Query, k known, obs *plan.Observation, want pin) error {
	s := spec(q.Want)
	p, err := d.charts.resolve(ctx, s, want)
	if err != nil {
		return fmt.Errorf("%s: %w", obs.ID, err)
	}
	r, err := d.renderFor(ctx, p, s, q, k, obs)
	if err != nil {
		return fmt.Errorf("%s: %w", obs.ID, err)
	}
	var before []child
	if k.base != nil {
		if before, err = d.children(k.base.Manifest, obs.ID.Namespace); err != nil {
			return fmt.Errorf("%s: manifest of revision %d: %w", obs.ID, k.base.Version, err)
		}
	}
	d.describe(q, p, s, r, obs)
	q.Provided = d.provide(r, s, obs, q.Provided)
	if obs.Children, err = d.look(ctx, q, r.objects, before, obs); err != nil {
		return err
	}
	if err := d.seeCRDs(ctx, q, r, s, k, obs); err != nil {
		return err
	}
	todo := decide(obs, r, k)
	obs.Facts["action"] = todo
	if todo == doInstall || todo == doUpgrade { // a record will be written
		warning, err := checkSize(obs.ID, r, s.Values)
		if err != nil {
			return err
		}
		if warning != "" {
			obs.Warnings = append(obs.Warnings, warning)
		}
		obs.Warnings = append(obs.Warnings, unheld(r.objects, obs.Children, q.Want.Options.IgnoreChanges)...)
	}
	defer r.forget(obs.Children) // what secrets hide is forgotten, too
	obs.Interrupts = interruptions(obs.Children)
	obs.Ready = summarize(obs.Children)
	hide(q, k, obs)
	return nil
}

// renderFor renders for the next revision, unless the installed one stands.
func (d *Driver) renderFor(ctx context.Context, p pinned, s resource.ReleaseSpec, q deploy.Query, k known, obs *plan.Observation) (rendering, error) {
	r, ok, err := d.standing(ctx, p, s, k, obs)
	if ok || err != nil {
		return r, err
	}
	revision := 1
	if k.base != nil {
		revision = k.last.Version + 1
	}
	return d.renderAs(ctx, p, s, obs.ID, revision)
}

// standing is the installed revision, when the same chart and values give the same again. It is
// rendered as that revision was: a chart may write the number or the time of a revision, or random
// values, into its objects, and would never come to rest otherwise.
func (d *Driver) standing(ctx context.Context, p pinned, s resource.ReleaseSpec, k known, obs *plan.Observation) (rendering, bool, error) {
	if k.base == nil || state.Fingerprint("", copyTree(k.base.Config)) != state.Fingerprint("", s.Values) {
		return rendering{}, false, nil
	}
	ch, err := p.load()
	if err != nil || !sameChart(k.base.Chart, ch) {
		return rendering{}, false, err
	}
	r, err := d.renderAs(ctx, p, s, obs.ID, k.base.Version)
	if err != nil {
		return r, false, err
	}
	was := rendering{manifest: k.base.Manifest, unstable: r.unstable}
	if was.objects, err = d.children(was.manifest, obs.ID.Namespace); err != nil {
		return r, false, err
	}
	if !r.unnamed && was.fingerprint("") != r.fingerprint("") {
		return r, false, nil // what its templates look up has changed
	}
	if len(r.unstable) > 0 || r.unnamed {
		obs.Notes = append(obs.Notes, "the chart makes random values: those of the installed revision stand")
	}
	r.manifest, r.objects, r.unstable, r.unnamed = was.manifest, was.objects, nil, false
	return r, true, nil
}

// renderAs renders each revision once in the life of the driver.
func (d *Driver) renderAs(ctx context.Context, p pinned, s resource.ReleaseSpec, id resource.ID, revision int) (rendering, error) {
	key := strings.Join([]string{id.Key(), p.digest, fmt.Sprint(revision), state.Fingerprint("", s.Values)}, "|")
	d.mu.Lock()
	r, ok := d.rendered[key]
	d.mu.Unlock()
	if ok {
		return r, nil
	}
	r, err := d.render(ctx, p, s, id, revision)
	if err != nil {
		return r, err
	}
	d.mu.Lock()
	d.rendered[key] = r
	d.mu.Unlock()
	return r, nil
}

// sameChart compares a recorded chart with today's: version, templates and default values.
func sameChart(a, b *chart.Chart) bool {
	if a.Metadata.Version != b.Metadata.Version || len(a.Templates) != len(b.Templates) {
		return false
	}
	for i, t := range a.Templates {
		if t.Name != b.Templates[i].Name || !bytes.Equal(t.Data, b.Templates[i].Data) {
			return false
		}
	}
	return state.Fingerprint("", copyTree(a.Values)) == state.Fingerprint("", copyTree(b.Values))
}

// describe fills the release's own wanted side and the facts that apply is held to.
func (d *Driver) describe(q deploy.Query, p pinned, s resource.ReleaseSpec, r rendering, obs *plan.Observation) {
	obs.Predicted = map[string]any{
		"chart": p.name, "version": p.version, "status": release.StatusDeployed.String(), "values": copyTree(s.Values),
	}
	if obs.Live["digest"] != nil {
		obs.Predicted["digest"] = p.digest
	}
	if obs.Exists && obs.Owner != q.Stack {
		obs.Predicted["stack"] = q.Stack // its record gets our labels
		if obs.Owner != "" {
			obs.Live["stack"] = obs.Owner
		}
	}
	obs.Facts = map[string]any{
		"chart": p.name, "version": p.version, "digest": p.digest, "origin": p.origin,
		"manifest": r.fingerprint(q.Salt), "children": encodeChildren(r.objects),
	}
	if r.chart.Metadata.AppVersion != "" {
		obs.Facts["appVersion"] = r.chart.Metadata.AppVersion
	}
	for _, w := range unknownKeys(r.chart, s.Values) {
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: %s", obs.ID, w))
	}
	if r.chart.Metadata.Deprecated {
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: chart %s %s is deprecated", obs.ID, p.name, p.version))
	}
	if note := hookNote(r.hooks); note != "" {
		obs.Notes = append(obs.Notes, note)
	}
	if r.unnamed {
		obs.Warnings = append(obs.Warnings, fmt.Sprintf("%s: the chart gives its objects random names: apply makes others than this plan shows, and a saved plan cannot be applied", obs.ID))
	}
}

// provide tells what the release brings, and adds it to what its own objects may rely on.
func (d *Driver) provide(r rendering, s resource.ReleaseSpec, obs *plan.Observation, given plan.Provided) plan.Provided {
	list := r.objects
	if !s.SkipCRDs {
		list = append(slices.Clone(list), r.crds...)
	}
	for _, c := range list {
		switch c.id.Kind {
		case "CustomResourceDefinition":
			m, _ := c.spec["spec"].(map[string]any)
			names, _ := m["names"].(map[string]any)
			obs.Provides.Kinds = append(obs.Provides.Kinds, fmt.Sprintf("%v/%v", m["group"], names["kind"]))
		case "Namespace":
			obs.Provides.Namespaces = append(obs.Provides.Namespaces, c.id.Name)
		}
	}
	if s.CreateNamespace {
		obs.Provides.Namespaces = append(obs.Provides.Namespaces, obs.ID.Namespace)
	}
	given.Kinds = append(slices.Clone(given.Kinds), obs.Provides.Kinds...)
	given.Namespaces = append(slices.Clone(given.Namespaces), obs.Provides.Namespaces...)
	return given
}

// look observes the wanted objects in order, and after them those that only before has.
// All missing kinds are reported at once. obs is nil when the objects are only to be seen.
func (d *Driver) look(ctx context.Context, q deploy.Query, want, before []child, obs *plan.Observation) ([]plan.Observation, error) {
	old := map[string]child{}
	for _, c := range before {
		old[c.id.Key()] = c
	}
	type job struct {
		q      deploy.Query
		before map[string]any
	}
	var jobs []job
	for _, c := range want {
		o := deploy.Query{Provided: q.Provided, Stack: q.Stack, Salt: q.Salt}
		if obs == nil {
			o.Prior = &state.Entry{ID: c.id}
		} else {
			o.Want = &resource.Object{ID: c.id, Spec: c.spec, Options: ignoring(q)}
		}
		jobs = append(jobs, job{o, old[c.id.Key()].spec})
		delete(old, c.id.Key())
	}
	for _, c := range before {
		if _, gone := old[c.id.Key()]; gone && !c.keep {
			jobs = append(jobs, job{deploy.Query{Prior: &state.Entry{ID: c.id}, Stack: q.Stack, Salt: q.Salt}, nil})
		}
	}
	out, errs := make([]plan.Observation, len(jobs)), make([]error, len(jobs))
	each(len(jobs), func(i int) { out[i], errs[i] = d.objects.Preview(ctx, jobs[i].q, jobs[i].before) })
	if err := joined(errs); err != nil {
		return nil, fmt.Errorf("%s: %w", releaseID(q), err)
	}
	if obs != nil {
		obs.Warnings = append(obs.Warnings, childWarnings(out)...)
	}
	return out, nil
}

// maxErrors is how many of a release's objects say what is wrong with them: with a webhook that is down, or a
// server that is, hundreds say the same.
const maxErrors = 5

func joined(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if n := len(errs); n > maxErrors {
		errs = append(errs[:maxErrors], fmt.Errorf("and %d more of its objects", n-maxErrors))
	}
	return errors.Join(errs...)
}

// each runs f for 0..n-1, a few at a time and begun in that order, and waits.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	slot := make(chan struct{}, parallel)
	for i := range n {
		slot <- struct{}{}
		wg.Go(func() {
			defer func() { <-slot }()
			f(i)
		})
	}
	wg.Wait()
}

func childWarnings(list []plan.Observation) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Warnings...)
		if len(c.Immutable) > 0 {
			out = append(out, fmt.Sprintf("%s: the upgrade changes fields that cannot change (%s): it will be refused; --replace the release or delete this object first", c.ID, strings.Join(c.Immutable, ", ")))
		}
	}
	return out
}

// hide masks secrets in values and in everything rendered from them: today's and those of the
// installed revision, which live objects still hold.
func hide(q deploy.Query, k known, obs *plan.Observation) {
	sec := secrets{salt: q.Salt}
	sec.add(q.Want.Spec, q.Want.Sensitive)
	for _, r := range []*release.Release{k.last, k.base} {
		if r != nil {
			sec.add(map[string]any{"values": r.Config}, q.Want.Sensitive)
		}
	}
	for _, side := range []map[string]any{obs.Live, obs.Predicted} {
		if side != nil {
			sec.maskAt(side, q.Want.Sensitive)
			sec.hide(side)
		}
	}
	for i := range obs.Children {
		sec.hide(obs.Children[i].Live)
		sec.hide(obs.Children[i].Predicted)
	}
}

// same compares two JSON values.
func same(a, b map[string]any) bool { return state.Fingerprint("", a) == state.Fingerprint("", b) }
