package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mifbench/mifbench/internal/dag"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// DefaultParallel is how many objects are worked on at a time unless asked otherwise.
const DefaultParallel = 10

// Look is what Observe looks at.
type Look struct {
	// Drivers by name (resource.DriverKube …).
	Drivers map[string]Driver
	Stack   string
	// Desired are the configuration's objects; empty for a destroy from state alone.
	Desired []resource.Object
	Prior   state.State
	// Parallel bounds the observations in flight; 0 means DefaultParallel.
	Parallel int
}

// View is what was seen.
type View struct {
	// Desired are the objects in dependency order, with the edges that Kubernetes implies
	// (plan.Link) and those found out while looking (a release that brings a kind).
	Desired []resource.Object
	Seen    map[resource.ID]plan.Observation
}

// Observe looks at every desired object and every entry of the state, in
// dependency order, so that a driver knows which namespaces and kinds earlier
// objects will bring. It changes nothing. All failures are returned together,
// each an *ObjectError; what could be seen is in the view all the same.
func Observe(ctx context.Context, look Look) (View, error) {
	l := &looker{Look: look, seen: map[resource.ID]plan.Observation{}, failed: map[resource.ID]error{}}
	l.Desired = plan.Link(look.Desired)
	l.walk(ctx)
	return View{Desired: plan.Link(l.Desired), Seen: l.seen}, l.errors(ctx)
}

// looker is one Observe in progress. The walk changes DependsOn of objects, so that everything
// is under mu.
type looker struct {
	Look
	mu     sync.Mutex
	seen   map[resource.ID]plan.Observation
	failed map[resource.ID]error
}

// walk observes everything once. Failures do not stop others: visit returns nil.
func (l *looker) walk(ctx context.Context) {
	want, keys := map[resource.ID]*resource.Object{}, map[string]bool{}
	for i := range l.Desired {
		want[l.Desired[i].ID] = &l.Desired[i]
		keys[l.Desired[i].ID.Key()] = true
	}
	g := l.graph()
	for _, e := range l.Prior.Entries {
		if !keys[e.ID.Key()] {
			g.Add(e.ID)
		}
	}
	_, err := g.Walk(ctx, parallel(l.Parallel), func(ctx context.Context, id resource.ID) error {
		l.look(ctx, id, want[id])
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("deploy: plan.Link left a cycle: %v", err))
	}
}

// graph holds the edges of the configuration and, for looking only, one from each object of a
// kind that a chart might bring to each release that does not need the object.
func (l *looker) graph() *dag.Graph[resource.ID] {
	g := dag.New[resource.ID]()
	for _, o := range l.Desired {
		g.Add(o.ID)
		for _, need := range o.DependsOn {
			g.Edge(o.ID, need)
		}
	}
	for _, release := range l.Desired {
		if release.ID.Driver != resource.DriverHelm {
			continue
		}
		needed := g.Reachable(release.ID)
		for _, o := range l.Desired {
			// The dot: kinds of the cluster itself mostly live in groups without one.
			if o.ID.Driver == resource.DriverKube && strings.Contains(o.ID.Group(), ".") && !needed[o.ID] {
				g.Edge(o.ID, release.ID)
			}
		}
	}
	return g
}

func (l *looker) look(ctx context.Context, id resource.ID, want *resource.Object) {
	q := Query{Want: want, Stack: l.Stack, Salt: l.Prior.Salt}
	address := resource.Address{}
	if e, ok := l.Prior.Find(id); ok {
		q.Prior, address = &e, e.Address
	}
	if want != nil {
		l.findProvider(want)
		q.Provided, address = l.provided(want), want.Address
	}
	obs, err := driver(l.Drivers, id).Observe(ctx, q)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed[id] = &ObjectError{Address: address, ID: id, Doing: "look at", Err: err}
		return
	}
	delete(l.failed, id)
	obs.ID = id
	l.seen[id] = obs
}

// provided is what everything that the object depends on, directly or not, will bring.
func (l *looker) provided(o *resource.Object) plan.Provided {
	l.mu.Lock()
	defer l.mu.Unlock()
	var p plan.Provided
	done := map[resource.ID]bool{}
	var add func(ids []resource.ID)
	add = func(ids []resource.ID) {
		for _, id := range ids {
			if done[id] {
				continue
			}
			done[id] = true
			got := l.seen[id].Provides
			p.Namespaces = append(p.Namespaces, got.Namespaces...)
			p.Kinds = append(p.Kinds, got.Kinds...)
			if i := l.find(id); i >= 0 {
				add(l.Desired[i].DependsOn)
			}
		}
	}
	add(o.DependsOn)
	return p
}

func (l *looker) find(id resource.ID) int {
	return slices.IndexFunc(l.Desired, func(o resource.Object) bool { return o.ID == id })
}

// findProvider adds the edge that the author left out: an object of a kind that a release of the
// same configuration brings comes after that release. It is found at every plan, also when the
// cluster serves the kind already, so that the edges do not change once it was applied.
func (l *looker) findProvider(o *resource.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind := o.ID.Group() + "/" + o.ID.Kind
	for _, p := range l.Desired {
		if slices.Contains(l.seen[p.ID].Provides.Kinds, kind) && !l.needs(p.ID, o.ID, map[resource.ID]bool{}) {
			if !slices.Contains(o.DependsOn, p.ID) {
				o.DependsOn = append(slices.Clone(o.DependsOn), p.ID)
			}
			return
		}
	}
}

// needs tells whether a depends on b, directly or not; l.mu is held.
func (l *looker) needs(a, b resource.ID, seen map[resource.ID]bool) bool {
	if a == b {
		return true
	}
	seen[a] = true
	i := l.find(a)
	return i >= 0 && slices.ContainsFunc(l.Desired[i].DependsOn, func(id resource.ID) bool {
		return !seen[id] && l.needs(id, b, seen)
	})
}

func (l *looker) errors(ctx context.Context) error {
	var list []error
	for _, o := range l.Desired {
		list = append(list, l.failed[o.ID])
		delete(l.failed, o.ID)
	}
	for _, e := range l.Prior.Entries {
		list = append(list, l.failed[e.ID])
		delete(l.failed, e.ID)
	}
	if ctx.Err() != nil {
		list = append(list, context.Cause(ctx))
	}
	return errors.Join(list...)
}

// Concerning is what of Observe's failures stands in the way of p: those of objects that
// -target or -exclude left out do not, since what is not touched need not be seen.
func Concerning(err error, p plan.Plan) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	in := map[resource.ID]bool{}
	for _, c := range p.Changes {
		in[c.ID] = true
	}
	return errors.Join(slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(err error) bool {
		var of *ObjectError
		return errors.As(err, &of) && !in[of.ID]
	})...)
}

// driver panics for an unknown name: kinds and wiring disagree, which is a bug.
func driver(drivers map[string]Driver, id resource.ID) Driver {
	d, ok := drivers[id.Driver]
	if !ok {
		panic(fmt.Sprintf("deploy: no driver %q for %s", id.Driver, id))
	}
	return d
}

func parallel(n int) int {
	if n <= 0 {
		return DefaultParallel
	}
	return n
}
