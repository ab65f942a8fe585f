package helm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Wait implements deploy.Driver: every object of the release by the rule of its kind. Jobs
// are not waited for, as with `helm --wait`.
func (d *Driver) Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	id := releaseID(r.Query)
	if r.Gone {
		return d.waitGone(ctx, r, report)
	}
	s := spec(r.Want)
	if w := r.Want.Options.Wait; !s.Wait && !s.Atomic || w != nil && w.None {
		return nil
	}
	err := d.waitReady(ctx, r, report)
	if err != nil && s.Atomic {
		return d.rollBack(ctx, id, err)
	}
	return err
}

// waitGone waits for the objects that the plan of destruction saw, or that the state remembers.
func (d *Driver) waitGone(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	var limit time.Duration
	list := decodeChildren(r.Seen.Facts["children"])
	if r.Prior != nil {
		limit = r.Prior.Options.DeleteTimeout
		if len(list) == 0 {
			list = decodeChildren(r.Prior.Facts["children"])
		}
	}
	return d.waitChildrenGone(ctx, list, limit, report)
}

func (d *Driver) waitReady(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	id := r.Want.ID
	cfg, err := d.cluster.action(ctx, id.Namespace)
	if err != nil {
		return err
	}
	k, err := history(cfg, id)
	if err != nil {
		return err
	}
	if k.last == nil || k.last.Info.Status != release.StatusDeployed {
		return fmt.Errorf("%s: %w: the release is %s", id, deploy.ErrNotReady, statusOf(k))
	}
	list, err := d.children(k.last.Manifest, id.Namespace)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	var waits []resource.ID
	for _, c := range list {
		if c.id.Kind != "Job" {
			waits = append(waits, c.id)
		}
	}
	options := r.Want.Options
	options.Wait = nil
	err = d.waitEach(ctx, waits, report, func(id resource.ID) deploy.Request {
		return deploy.Request{Query: deploy.Query{Want: &resource.Object{ID: id, Options: options}, Stack: r.Stack}, Seen: plan.Observation{Exists: r.Seen.Exists}}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return nil
}

func statusOf(k known) string {
	if k.last == nil {
		return "not installed"
	}
	return k.last.Info.Status.String() + ": " + k.last.Info.Description
}

func (d *Driver) waitChildrenGone(ctx context.Context, list []resource.ID, limit time.Duration, report func(plan.Readiness)) error {
	return d.waitEach(ctx, list, report, func(id resource.ID) deploy.Request {
		return deploy.Request{Gone: true, Query: deploy.Query{Want: &resource.Object{ID: id, Options: resource.Options{DeleteTimeout: limit}}}}
	})
}

// waitEach waits for all objects at once; the first doomed one ends the wait for the others.
func (d *Driver) waitEach(ctx context.Context, list []resource.ID, report func(plan.Readiness), ask func(resource.ID) deploy.Request) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	b := board{report: report, pending: map[int]plan.Readiness{}, ids: list}
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, id := range list {
		wg.Go(func() {
			err := d.objects.Wait(inner, ask(id), func(v plan.Readiness) { b.set(i, v) })
			b.done(i)
			if err != nil && inner.Err() != nil && ctx.Err() == nil {
				return // ended because another one is doomed
			}
			if errs[i] = err; err != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// board merges the reasons of many objects into one line.
type board struct {
	mu      sync.Mutex
	ids     []resource.ID
	pending map[int]plan.Readiness
	report  func(plan.Readiness)
}

func (b *board) set(i int, v plan.Readiness) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[i] = v
	b.tell()
}

func (b *board) done(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.pending[i]; ok {
		delete(b.pending, i)
		b.tell()
	}
}

// tell reports the first object that is waited for, and how many there are.
func (b *board) tell() {
	if b.report == nil {
		return
	}
	for i, id := range b.ids {
		v, ok := b.pending[i]
		if !ok {
			continue
		}
		v.Reason = id.String() + ": " + v.Reason
		if n := len(b.pending); n > 1 {
			v.Reason += fmt.Sprintf(" (and %d more)", n-1)
		}
		b.report(v)
		return
	}
}

// Delete implements deploy.Driver: an uninstall with hooks, in the foreground of the API server.
// Where Helm cannot build the objects because a CRD is gone, they are deleted one by one and the
// record is dropped.
func (d *Driver) Delete(ctx context.Context, r deploy.Request) error {
	id := releaseID(r.Query)
	cfg, err := d.cluster.action(ctx, id.Namespace)
	if err != nil {
		return err
	}
	k, err := history(cfg, id)
	if err != nil || k.last == nil {
		return err
	}
	if err := ours(r.Query, k.last); err != nil {
		return err
	}
	limit := hookTimeout
	if r.Prior != nil && r.Prior.Options.DeleteTimeout > 0 {
		limit = r.Prior.Options.DeleteTimeout
	}
	d.cluster.refresh()
	return d.remove(ctx, cfg, id, k.last, limit)
}

// remove uninstalls a release, by hand where Helm cannot, and what its hooks have left.
func (d *Driver) remove(ctx context.Context, cfg *action.Configuration, id resource.ID, last *release.Release, limit time.Duration) error {
	err := d.uninstall(cfg, id, limit)
	if err != nil && ctx.Err() == nil {
		err = d.dismantle(ctx, cfg, id, last, err)
	}
	if err != nil {
		return err
	}
	return d.sweep(ctx, last)
}

func (d *Driver) uninstall(cfg *action.Configuration, id resource.ID, limit time.Duration) error {
	a := action.NewUninstall(cfg)
	a.IgnoreNotFound, a.DeletionPropagation, a.Timeout = true, "foreground", limit
	if _, err := a.Run(id.Name); err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
		return fmt.Errorf("uninstall %s: %w", id, err)
	}
	return nil
}

// dismantle deletes what is left of a release object by object, then its records.
func (d *Driver) dismantle(ctx context.Context, cfg *action.Configuration, id resource.ID, last *release.Release, first error) error {
	list, err := d.children(last.Manifest, id.Namespace)
	if err != nil {
		return errors.Join(first, fmt.Errorf("%s: %w", id, err))
	}
	var errs []error
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].keep {
			errs = append(errs, d.objects.Remove(ctx, list[i].id))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(first, err)
	}
	all, err := cfg.Releases.History(id.Name)
	if err != nil && !isNoRelease(err) {
		return errors.Join(first, fmt.Errorf("%s: read its records: %w", id, err))
	}
	for _, rel := range all {
		if _, err := cfg.Releases.Delete(rel.Name, rel.Version); err != nil {
			errs = append(errs, fmt.Errorf("%s: delete the record of revision %d: %w", id, rel.Version, err))
		}
	}
	return errors.Join(errs...)
}

func isNoRelease(err error) bool {
	return errors.Is(err, driver.ErrReleaseNotFound) || strings.Contains(err.Error(), "not found")
}
