package kinds

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Namespace are the options of a namespace block.
type Namespace struct {
	Name        string            `hcl:"name" doc:"Name of the namespace."`
	Labels      map[string]string `hcl:"labels,optional" doc:"Labels; mif = \"enabled\" asks the framework's replicator for the pull secret."`
	Annotations map[string]string `hcl:"annotations,optional" doc:"Annotations."`
}

func expandNamespace(s resource.Scope, o *Namespace) (resource.Expansion, hcl.Diagnostics) {
	diags := checkDNSLabel(s, "name", o.Name)
	ns := object(s, "v1", "Namespace", "", o.Name, nil)
	setMeta(ns, "labels", o.Labels)
	setMeta(ns, "annotations", o.Annotations)
	return resource.Expansion{
		Objects: []resource.Object{ns},
		Attrs:   attrs(map[string]string{"name": o.Name}),
	}, diags
}
