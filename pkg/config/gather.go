package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mifbench/mifbench/pkg/resource"
)

// gather puts the resources into creation order and fills in the edges between blocks.
func (e *evaluator) gather() {
	c := e.config
	for _, id := range e.graph.order {
		n := e.graph.nodes[id]
		deps, objects := e.depended(n)
		for _, r := range n.resources {
			r.DependsOn = deps
			for i := range r.Objects {
				r.Objects[i].DependsOn = append(append([]resource.ID(nil), objects...), r.Objects[i].DependsOn...)
			}
			c.Resources = append(c.Resources, r)
		}
	}
	sort.Slice(c.Variables, func(i, j int) bool { return c.Variables[i].Name < c.Variables[j].Name })
	sort.Slice(c.Outputs, func(i, j int) bool { return c.Outputs[i].Range.String() < c.Outputs[j].Range.String() })
	e.inSourceOrder()
	e.twins()
}

// depended are the block instances and objects that a node's block refers to.
func (e *evaluator) depended(n *node) ([]resource.Address, []resource.ID) {
	var addrs []resource.Address
	var ids []resource.ID
	for _, id := range n.blocks {
		dep := e.graph.nodes[id]
		if dep == nil || dep == n {
			continue
		}
		for _, r := range dep.resources {
			addrs = append(addrs, r.Address)
			for _, o := range r.Objects {
				ids = append(ids, o.ID)
			}
		}
	}
	return addrs, ids
}

// inSourceOrder lists scenarios and datasets as the files have them, not as they became
// computable.
func (e *evaluator) inSourceOrder() {
	rank := make(map[nodeID]int, len(e.graph.source))
	for i, id := range e.graph.source {
		rank[id] = i
	}
	at := func(a resource.Address) int { return rank[nodeID{a.Module, a.Kind, a.Name}] }
	c := e.config
	sort.SliceStable(c.Scenarios, func(i, j int) bool { return at(c.Scenarios[i].Address) < at(c.Scenarios[j].Address) })
}

// twins refuses two objects of one identity.
func (e *evaluator) twins() {
	seen := map[string]resource.Object{}
	for _, r := range e.config.Resources {
		for _, o := range r.Objects {
			first, dup := seen[o.ID.Key()]
			if !dup {
				seen[o.ID.Key()] = o
				continue
			}
			detail := fmt.Sprintf("Both %s (%s:%d) and %s stand for %s. Give one of them another name or namespace, or remove it.",
				first.Address, first.Range.Filename, first.Range.Start.Line, o.Address, o.ID)
			if first.Address == o.Address {
				detail = fmt.Sprintf("%s stands for %s twice. Give the objects different names.", o.Address, o.ID)
			}
			e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Two blocks for one object", Subject: r.Scope.At("name").Ptr(), Context: r.Scope.Block.Ptr(), Detail: detail})
		}
	}
}

// hash identifies everything that went in, secrets apart, wherever the directory lies.
func (e *evaluator) hash() string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p) //nolint:errcheck // a hash does not fail
		}
	}
	for _, p := range sorted(keys(e.reader.read)) {
		if e.reader.values[p] {
			continue // may hold secrets; what is not secret in it follows below
		}
		name, err := filepath.Rel(e.config.Dir, p)
		if err != nil {
			name = p
		}
		put("file", filepath.ToSlash(name), string(e.reader.read[p]))
	}
	for _, v := range e.config.Variables {
		put("variable", v.Name)
		if !v.Sensitive {
			put(valueText(v.Value))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func valueText(v cty.Value) string {
	b, err := ctyjson.Marshal(v, cty.DynamicPseudoType)
	if err != nil {
		return v.GoString()
	}
	return string(b)
}
