package check

import (
	"fmt"
)

func definitionOld() Check {
	return Check{
		Code: "MIF103", About: "definitions", Title: "Definition too old for this configuration", Severity: fault,
		Why: "Fields that a definition does not have are dropped without a word, and longer lists than it allows are refused.",
		Fix: "Upgrade the definition: the inference extension's CRDs to v1.1.0 or newer, the chart odin-crd to v0.8.0 or newer.",
		Look: func(m *Model, w *World) (o Outcome) {
			poolDefinition(m, w, &o)
			serviceDefinition(m, w, &o)
			return o
		},
	}
}

// poolDefinition: v1.0 of the inference extension allows one port, v1.1 eight.
func poolDefinition(m *Model, w *World, o *Outcome) {
	crd, ok := definition(w, o, poolCRD)
	if !ok || len(m.schedulers) == 0 {
		return
	}
	most, limited := count(dig(versionSchema(crd, "v1"), "spec", "properties", "targetPorts", "maxItems"))
	for _, s := range m.schedulers {
		if n := len(targetPorts(s)); limited && int64(n) > most {
			o.find(s.finding(s.valuePath("target_ports", "inferencePool", "targetPorts"), fmt.Sprintf(
				"%d target ports are listed; the cluster's InferencePool takes %d, as the inference extension did before v1.1.0.", n, most)))
		}
	}
	if limited && len(o.Findings) == 0 {
		o.seen("an InferencePool takes %d target ports", most)
	}
}

// serviceDefinition: spec.model came with odin-crd v0.8.0, and the presets use it.
func serviceDefinition(m *Model, w *World, o *Outcome) {
	crd, ok := definition(w, o, serviceCRD)
	if !ok || len(m.services) == 0 {
		return
	}
	fields := mapAt(versionSchema(crd, "v1alpha1"), "spec", "properties")
	for _, e := range m.services {
		if len(fields) > 0 && fields["model"] == nil {
			o.find(e.finding("template_refs", "The cluster's InferenceService has no field spec.model, which presets from v0.5.0 on are written with: the engines would serve a model without a name."))
			return
		}
	}
	o.seen("an InferenceService has spec.model")
}

// definition is a CRD that was read, ok only when it exists.
func definition(w *World, o *Outcome, name string) (map[string]any, bool) {
	crd, asked := w.objects[crdID(name)]
	switch {
	case !asked:
		return nil, false
	case !crd.ok:
		o.skip("%s", crd.missing())
		return nil, false
	}
	return crd.is, crd.is != nil // MIF102 tells that it is absent
}

func versionSchema(crd map[string]any, version string) map[string]any {
	for _, v := range listAt(crd, "spec", "versions") {
		if textAt(v, "name") == version {
			return mapAt(v, "schema", "openAPIV3Schema", "properties")
		}
	}
	return nil
}
