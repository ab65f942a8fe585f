package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// maxHooks is how many hooks a note names.
const maxHooks = 6

// hookNote says which hooks Helm runs beside the objects of the release; "" for none.
func hookNote(hooks []*release.Hook) string {
	var names []string
	for _, h := range hooks {
		var events []string
		for _, e := range h.Events {
			events = append(events, e.String())
		}
		names = append(names, fmt.Sprintf("%s %s (%s)", h.Kind, h.Name, strings.Join(events, ", ")))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%d hook(s) run beside the objects shown: %s", len(names), someOf(names, maxHooks))
}

// someOf lists the first names and how many more there are.
func someOf(names []string, most int) string {
	if n := len(names); n > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(names, "; ")
}

// hookPause is how often the record is asked which hook is running.
const hookPause = 2 * time.Second

// followHooks reports what the hook that is running waits for; Helm says nothing until it is over.
func (d *Driver) followHooks(ctx context.Context, cfg *action.Configuration, r deploy.Request, hooks []*release.Hook) (stop func()) {
	if r.Report == nil || len(hooks) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		said := ""
		report := func(p plan.Readiness) {
			if p.Reason != said {
				said = p.Reason
				r.Report(p)
			}
		}
		t := time.NewTicker(hookPause)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if last, err := cfg.Releases.Last(r.Want.ID.Name); err == nil { // the action itself reports what is wrong
				d.reportHooks(ctx, last, report)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// reportHooks waits for the objects of the hook that is running and passes on why they are not ready.
func (d *Driver) reportHooks(ctx context.Context, last *release.Release, report func(plan.Readiness)) {
	for _, h := range last.Hooks {
		if h.LastRun.Phase != release.HookPhaseRunning {
			continue
		}
		list, err := d.children(h.Manifest, last.Namespace)
		if err != nil {
			return // the action itself fails on it
		}
		for _, c := range list {
			r := deploy.Request{Query: deploy.Query{Want: &resource.Object{ID: c.id}}}
			err = d.objects.Wait(ctx, r, func(p plan.Readiness) {
				p.Reason = fmt.Sprintf("hook %s: %s", c.id, p.Reason)
				report(p)
			})
			if err != nil {
				return // it is over, or doomed: explainHooks says why
			}
		}
	}
}

// hookObjects are the objects that hooks of a release may have left, without those that the chart
// keeps. Helm does not delete them with the release. Kinds that hold other people's objects or
// data are never ours to delete by way of a hook.
func (d *Driver) hookObjects(r *release.Release) ([]child, error) {
	var out []child
	for _, h := range r.Hooks {
		list, err := d.children(h.Manifest, r.Namespace)
		if err != nil {
			return nil, fmt.Errorf("hook %s: %w", h.Path, err)
		}
		for _, c := range list {
			if !c.keep && !holdsOthers(c.id.Kind) {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func holdsOthers(kind string) bool {
	return slices.Contains([]string{"CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "PersistentVolume"}, kind)
}

// sweep deletes what hooks have left, after an uninstall.
func (d *Driver) sweep(ctx context.Context, r *release.Release) error {
	list, err := d.hookObjects(r)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		errs = append(errs, d.objects.Remove(ctx, c.id))
	}
	return errors.Join(errs...)
}

// hookLook is how long the objects of a failed hook are looked at.
const hookLook = 5 * time.Second

// explainHooks adds to a failure why the failed hooks' objects are not ready: conditions, events, the
// last log lines. Helm says only that a hook failed.
func (d *Driver) explainHooks(ctx context.Context, cfg *action.Configuration, id resource.ID, failure error) error {
	if ctx.Err() != nil || errors.Is(failure, deploy.ErrChanged) {
		return failure
	}
	last, err := cfg.Releases.Last(id.Name)
	if err != nil {
		return failure // it failed before there was a record
	}
	ctx, cancel := context.WithTimeout(ctx, hookLook)
	defer cancel()
	errs := []error{failure}
	for _, h := range last.Hooks {
		if h.LastRun.Phase != release.HookPhaseFailed {
			continue
		}
		list, err := d.children(h.Manifest, last.Namespace)
		errs = append(errs, err)
		for _, c := range list {
			errs = append(errs, d.objects.Wait(ctx, deploy.Request{Query: deploy.Query{Want: &resource.Object{ID: c.id}}}, nil))
		}
	}
	return errors.Join(errs...)
}
