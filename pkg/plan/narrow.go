package plan

import (
	"slices"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Covers tells whether an address given by a user means a: the same, or all
// instances of the block when the key is left out.
func Covers(given, a resource.Address) bool {
	if given.Key == "" {
		a.Key = ""
	}
	return given == a
}

func coversAny(given []resource.Address, a resource.Address) bool {
	return slices.ContainsFunc(given, func(g resource.Address) bool { return Covers(g, a) })
}

// narrow drops the changes that -target and -exclude leave out. Edges point from a
// change to those that come before it, so for makers they lead to needs and for
// removals to users: both options follow them.
func (p *Plan) narrow(o Options) {
	keep := p.targeted(o.Targets)
	for _, out := range p.excluded(o.Exclude) {
		keep[out] = false
	}
	var left []Change
	in := map[resource.ID]bool{}
	for i, c := range p.Changes {
		if keep[i] {
			left = append(left, c)
			in[c.ID] = true
		}
	}
	p.Partial = len(left) < len(p.Changes)
	p.Changes = left
	p.Problems = slices.DeleteFunc(p.Problems, func(q Problem) bool { return !in[q.ID] })
	for i := range p.Changes {
		c := &p.Changes[i]
		c.DependsOn = slices.DeleteFunc(c.DependsOn, func(id resource.ID) bool { return !in[id] })
	}
}

// targeted marks the targets and everything that must come before them.
func (p *Plan) targeted(targets []resource.Address) []bool {
	keep := make([]bool, len(p.Changes))
	index := p.index()
	var mark func(i int)
	mark = func(i int) {
		if keep[i] {
			return
		}
		keep[i] = true
		for _, id := range p.Changes[i].DependsOn {
			mark(index[id])
		}
	}
	for i, c := range p.Changes {
		if len(targets) == 0 || coversAny(targets, c.Address) {
			mark(i)
		}
	}
	return keep
}

// excluded lists the excluded changes and everything that must come after them.
func (p *Plan) excluded(exclude []resource.Address) []int {
	out := make([]bool, len(p.Changes))
	for i, c := range p.Changes {
		out[i] = coversAny(exclude, c.Address)
	}
	index := p.index()
	for again := true; again; {
		again = false
		for i, c := range p.Changes {
			for _, id := range c.DependsOn {
				if j := index[id]; out[j] && !out[i] {
					out[i], again = true, true
				}
			}
		}
	}
	var list []int
	for i, yes := range out {
		if yes {
			list = append(list, i)
		}
	}
	return list
}

func (p *Plan) index() map[resource.ID]int {
	index := map[resource.ID]int{}
	for i, c := range p.Changes {
		index[c.ID] = i
	}
	return index
}
