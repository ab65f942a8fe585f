package config

import (
	"github.com/hashicorp/hcl/v2"
)

// dependsOn reads a list of names of blocks.
func (r *resolver) dependsOn(e hcl.Expression) {
	list, diags := hcl.ExprList(e)
	if diags.HasErrors() {
		r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid depends_on", Subject: e.Range().Ptr(),
			Detail: "depends_on is a list of blocks, written without quotes: depends_on = [namespace.bench, module.x]."})
		return
	}
	for _, item := range list {
		t, diags := hcl.AbsTraversalForExpr(item)
		if diags.HasErrors() {
			r.diags = append(r.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid depends_on", Subject: item.Range().Ptr(),
				Detail: "Each element of depends_on is the name of a block without quotes, for example namespace.bench."})
			continue
		}
		if name, ok := step(t, 1); t.RootName() == classModule && ok && r.exists(classModule, name) {
			for _, x := range r.m.modules[name].uses() {
				r.wholeModule(x)
			}
			continue
		}
		r.traversal(t)
	}
}

// wholeModule is a dependency on every resource of a module.
func (r *resolver) wholeModule(m *module) {
	for _, id := range m.order {
		if _, ok := r.language.kinds[id.class]; ok {
			r.add(id)
		}
	}
	for _, name := range sorted(keys(m.modules)) {
		for _, x := range m.modules[name].uses() {
			r.wholeModule(x)
		}
	}
}
