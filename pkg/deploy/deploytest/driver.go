package deploytest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Op is a method of the driver, for scripts.
type Op string

// The operations that a script can make fail.
const (
	Observe Op = "observe"
	Apply   Op = "apply"
	Wait    Op = "wait"
	Delete  Op = "delete"
)

// Fault is one scripted failure.
type Fault struct {
	Op Op
	// ID is the object, the zero ID for any.
	ID resource.ID
	// Nth is the call (of this op and object) that fails, from 1; 0 means every call.
	Nth int
	Err error
	// Slow delays the call; with Err nil it then succeeds.
	Slow time.Duration
	// After lets the effect happen before the error is returned: the answer was lost.
	After bool
}

// Driver is a deploy.Driver for a World.
type Driver struct {
	World *World
	// Faults are looked at in order; the first that fits is used.
	Faults []Fault
	// Poll is the interval of Wait; 0 means 1 ms.
	Poll time.Duration
	// Kinds are served by the world besides the core group, "group/Kind"; nil means all.
	Kinds map[string]bool
	// Provides is what objects bring, by ID.Key.
	Provides map[string]plan.Provided
	// Blind are kinds (deploy.KindOf) that List may not look at.
	Blind []string
	// Parts are the objects behind a release, by ID.Key: Observe shows those that exist as its children.
	Parts map[string][]resource.ID

	mu    sync.Mutex
	calls map[string]int
}

var (
	_ deploy.Driver = (*Driver)(nil)
	_ deploy.Lister = (*Driver)(nil)
)

// Drivers gives the same driver for every driver name.
func (d *Driver) Drivers() map[string]deploy.Driver {
	return map[string]deploy.Driver{resource.DriverKube: d, resource.DriverHelm: d, resource.DriverECR: d}
}

// fault returns the scripted failure of this call, after its delay.
func (d *Driver) fault(ctx context.Context, op Op, id resource.ID) (Fault, error) {
	d.mu.Lock()
	if d.calls == nil {
		d.calls = map[string]int{}
	}
	call := string(op) + id.Key()
	d.calls[call]++
	n := d.calls[call]
	d.mu.Unlock()
	for _, f := range d.Faults {
		if f.Op != op || f.ID != (resource.ID{}) && f.ID.Key() != id.Key() || f.Nth != 0 && f.Nth != n {
			continue
		}
		if f.Slow > 0 {
			select {
			case <-ctx.Done():
				return f, context.Cause(ctx)
			case <-time.After(f.Slow):
			}
		}
		return f, nil
	}
	return Fault{}, nil
}

// Observe is part of deploy.Driver.
func (d *Driver) Observe(ctx context.Context, q deploy.Query) (plan.Observation, error) {
	id := queryID(q)
	f, err := d.fault(ctx, Observe, id)
	if err == nil {
		err = f.Err
	}
	if err != nil {
		return plan.Observation{}, err
	}
	obs := plan.Observation{ID: id, Provides: d.Provides[id.Key()]}
	if q.Want != nil {
		obs.Predicted = q.Want.Spec
		if err := d.served(id, q.Provided); err != nil {
			return plan.Observation{}, err
		}
	}
	d.World.Edit(id, func(t *Thing) {
		if t == nil {
			return
		}
		obs.Exists, obs.UID, obs.Owner, obs.Live = true, t.UID, t.Owner, t.Spec
		obs.Version, obs.Terminating = strconv.Itoa(t.Version), t.Deleting
		obs.Ready = t.readiness()
	})
	for _, part := range d.Parts[id.Key()] {
		d.World.Edit(part, func(t *Thing) {
			if t != nil {
				obs.Children = append(obs.Children, plan.Observation{ID: part, Exists: true, UID: t.UID})
			}
		})
	}
	return obs, nil
}

func (d *Driver) served(id resource.ID, p plan.Provided) error {
	kind := id.Group() + "/" + id.Kind
	if d.Kinds == nil || id.Group() == "" || d.Kinds[kind] {
		return nil
	}
	for _, k := range p.Kinds {
		if k == kind {
			return nil
		}
	}
	return fmt.Errorf("%w: %s", deploy.ErrNoKind, kind)
}

func (t *Thing) readiness() plan.Readiness {
	return plan.Readiness{Ready: t.NotReady == "" && !t.Deleting, Failed: t.Doomed, Reason: t.NotReady}
}

// Apply is part of deploy.Driver.
func (d *Driver) Apply(ctx context.Context, r deploy.Request) (deploy.Result, error) {
	id := r.Want.ID
	f, err := d.fault(ctx, Apply, id)
	if err == nil && !f.After {
		err = f.Err
	}
	if err != nil {
		return deploy.Result{}, err
	}
	res, err := d.World.apply(r)
	if err == nil && f.After {
		err = f.Err
	}
	return res, err
}

func (w *World) apply(r deploy.Request) (res deploy.Result, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := r.Want.ID.Key()
	t := w.things[key]
	switch {
	case t == nil && r.Seen.Exists, t != nil && !r.Seen.Exists && t.Owner != r.Stack:
		return res, fmt.Errorf("%s: %w", r.Want.ID, deploy.ErrChanged)
	case t != nil && r.Seen.Exists && strconv.Itoa(t.Version) != r.Seen.Version:
		return res, fmt.Errorf("%s: %w", r.Want.ID, deploy.ErrChanged)
	}
	err = w.effect("apply "+key, func() {
		if t == nil || r.Replace {
			w.uids++
			w.made[key]++
			t = &Thing{ID: r.Want.ID, UID: "uid-" + strconv.Itoa(w.uids)}
			w.things[key], res.Created = t, true
		}
		t.Spec, t.Owner, t.Address = r.Want.Spec, r.Stack, r.Want.Address
		t.Version++
	})
	res.UID, res.Fingerprint = t.uid(), state.Fingerprint(r.Salt, r.Want.Spec)
	return res, err
}

func (t *Thing) uid() string {
	if t == nil {
		return ""
	}
	return t.UID
}

// Wait is part of deploy.Driver.
func (d *Driver) Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	id := queryID(r.Query)
	f, err := d.fault(ctx, Wait, id)
	if err == nil {
		err = f.Err
	}
	if err != nil {
		return err
	}
	last := plan.Readiness{}
	for {
		now, over := d.World.look(id, r.Gone)
		if over {
			return nil
		}
		if now.Reason != last.Reason {
			report(now)
			last = now
		}
		if now.Failed {
			return fmt.Errorf("%s: %w: %s", id, deploy.ErrNotReady, now.Reason)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %s: %w", id, deploy.ErrNotReady, now.Reason, context.Cause(ctx))
		case <-time.After(max(d.Poll, time.Millisecond)):
		}
	}
}

func (w *World) look(id resource.ID, gone bool) (now plan.Readiness, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.things[id.Key()]
	switch {
	case gone && t == nil:
		return now, true
	case gone:
		return plan.Readiness{Reason: "finalizer " + t.Finalizer}, false
	case t == nil:
		return plan.Readiness{Reason: "does not exist"}, false
	}
	return t.readiness(), t.readiness().Ready
}

// Delete is part of deploy.Driver.
func (d *Driver) Delete(ctx context.Context, r deploy.Request) error {
	id := queryID(r.Query)
	f, err := d.fault(ctx, Delete, id)
	if err == nil && !f.After {
		err = f.Err
	}
	if err != nil {
		return err
	}
	w := d.World
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.things[id.Key()]
	if t == nil {
		return f.Err
	}
	err = w.effect("delete "+id.Key(), func() {
		t.Deleting = true
		if t.Finalizer == "" {
			delete(w.things, id.Key())
		}
	})
	if err != nil {
		return err
	}
	return f.Err
}

// List is part of deploy.Lister. Under Drivers every thing comes once a driver name, which the
// engine must bear.
func (d *Driver) List(ctx context.Context, stack string, in deploy.Scope) ([]deploy.Found, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := d.World
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []deploy.Found
	for _, kind := range d.Blind {
		group, name, _ := strings.Cut(kind, "/")
		out = append(out, deploy.Found{ID: resource.ID{APIVersion: group + "/", Kind: name}, Warning: kind + ": not listed"})
	}
	for key, t := range w.things {
		within := in.Kinds == nil || slices.Contains(in.Kinds, deploy.KindOf(t.ID)) || slices.Contains(in.Namespaces, t.ID.Namespace)
		if within && !slices.Contains(d.Blind, deploy.KindOf(t.ID)) && (t.Owner == stack || in.Named[key]) {
			out = append(out, deploy.Found{ID: t.ID, UID: t.UID, Owner: t.Owner, Address: t.Address, Created: true})
		}
	}
	return out, nil
}

func queryID(q deploy.Query) resource.ID {
	if q.Want != nil {
		return q.Want.ID
	}
	return q.Prior.ID
}
