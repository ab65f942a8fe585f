package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Link returns the objects in dependency order with the edges that Kubernetes
// implies added to DependsOn: an object needs the Namespace it lives in and the
// CustomResourceDefinition of its kind where the same configuration makes them.
// Edges to objects outside the list are dropped. The order is stable: objects
// without an edge between them keep their places. A cycle among the given edges
// panics; the configuration rejects it before.
func Link(objects []resource.Object) []resource.Object {
	g := newLinks(objects)
	for i := range g.objects {
		g.imply(i)
	}
	return g.sorted(func(i int, on resource.ID) {
		panic(fmt.Sprintf("plan: dependency cycle: %s needs %s and the other way round", g.objects[i].ID, on))
	})
}

// linkRecorded is Link for objects of the state: their edges were written at different times, so
// that a cycle is nobody's mistake; the edge that closes it is dropped.
func linkRecorded(objects []resource.Object) []resource.Object {
	g := newLinks(objects)
	for i := range g.objects {
		g.imply(i)
	}
	return g.sorted(func(i int, on resource.ID) {
		o := &g.objects[i]
		o.DependsOn = slices.DeleteFunc(slices.Clone(o.DependsOn), func(id resource.ID) bool { return id == on })
	})
}

type links struct {
	objects []resource.Object
	at      map[string]int // by ID.Key
	kinds   map[string]int // "group/Kind" to the CRD's place
}

func newLinks(objects []resource.Object) *links {
	g := &links{objects: slices.Clone(objects), at: map[string]int{}, kinds: map[string]int{}}
	for i, o := range g.objects {
		g.at[o.ID.Key()] = i
		if k := definedKind(o); k != "" {
			g.kinds[k] = i
		}
	}
	for i := range g.objects {
		g.objects[i].DependsOn = g.known(g.objects[i].DependsOn)
	}
	return g
}

// known keeps the edges that lead to an object of the list, once each.
func (g *links) known(ids []resource.ID) []resource.ID {
	var out []resource.ID
	for _, id := range ids {
		i, ok := g.at[id.Key()]
		if ok && !slices.Contains(out, g.objects[i].ID) {
			out = append(out, g.objects[i].ID)
		}
	}
	return out
}

func (g *links) imply(i int) {
	o := g.objects[i]
	if o.ID.Namespace != "" {
		ns := resource.ID{APIVersion: "v1", Kind: "Namespace", Name: o.ID.Namespace}
		g.edge(i, g.at, ns.Key())
	}
	g.edge(i, g.kinds, o.ID.Group()+"/"+o.ID.Kind)
}

func (g *links) edge(from int, index map[string]int, key string) {
	to, ok := index[key]
	if !ok || to == from || g.reaches(to, from, map[int]bool{}) {
		return
	}
	if id := g.objects[to].ID; !slices.Contains(g.objects[from].DependsOn, id) {
		g.objects[from].DependsOn = append(slices.Clone(g.objects[from].DependsOn), id)
	}
}

// reaches tells whether from depends on to already; an implied edge never makes a cycle.
func (g *links) reaches(from, to int, seen map[int]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, id := range g.objects[from].DependsOn {
		if next := g.at[id.Key()]; !seen[next] && g.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// sorted is a depth-first walk; cycle is called for an edge that closes a cycle.
func (g *links) sorted(cycle func(i int, on resource.ID)) []resource.Object {
	out := make([]resource.Object, 0, len(g.objects))
	onPath, done := make([]bool, len(g.objects)), make([]bool, len(g.objects))
	var visit func(i int)
	visit = func(i int) {
		onPath[i] = true
		for _, id := range slices.Clone(g.objects[i].DependsOn) {
			switch next := g.at[id.Key()]; {
			case onPath[next]:
				cycle(i, id)
			case !done[next]:
				visit(next)
			}
		}
		onPath[i], done[i] = false, true
		out = append(out, g.objects[i])
	}
	for i := range g.objects {
		if !done[i] {
			visit(i)
		}
	}
	return out
}

// definedKind is "group/Kind" of a CustomResourceDefinition, "" for other objects.
func definedKind(o resource.Object) string {
	if o.ID.Kind != "CustomResourceDefinition" || !strings.HasPrefix(o.ID.APIVersion, "apiextensions.k8s.io/") {
		return ""
	}
	spec, _ := o.Spec["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	if group == "" || kind == "" {
		return ""
	}
	return group + "/" + kind
}
