package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/deploy"
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
	n := len(names)
	switch {
	case n == 0:
		return ""
	case n > maxHooks:
		names = append(names[:maxHooks], fmt.Sprintf("and %d more", n-maxHooks))
	}
	return fmt.Sprintf("%d hook(s) run beside the objects shown: %s", n, strings.Join(names, "; "))
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
