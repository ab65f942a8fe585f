package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func secretWriters() Check {
	return Check{
		Code: "MIF035", Title: "Two writers for one pull secret", Severity: fault,
		Why: "The framework's replicator writes moreh-registry into every namespace labelled mif=enabled and overwrites yours, over and over.",
		Fix: "Use mode = \"replicated\", or remove the label from the namespace.",
		Run: func(c *config.Config) []Finding {
			var out []Finding
			for _, r := range credentials(c) {
				o := r.Options.(*kinds.ECRCredentials)
				if ns, ok := namespaces(c)[o.Namespace]; ok && labelled(ns) && o.Mode != resource.CredentialReplicated && r.Objects[0].ID.Name == replicatedSecret {
					out = append(out, finding(r, "mode", fmt.Sprintf("The namespace %q carries the label mif=enabled, and mode is %q.", o.Namespace, o.Mode)))
				}
			}
			return out
		},
	}
}

// replicatedSecret is the Secret that the framework replicates.
const replicatedSecret = "moreh-registry"

// credentials are the ecr_credentials blocks.
func credentials(c *config.Config) []config.Resource {
	var out []config.Resource
	for _, r := range c.Resources {
		if _, ok := r.Options.(*kinds.ECRCredentials); ok && len(r.Objects) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// namespaces are the namespace blocks by the name of the namespace.
func namespaces(c *config.Config) map[string]config.Resource {
	out := map[string]config.Resource{}
	for _, r := range c.Resources {
		if o, ok := r.Options.(*kinds.Namespace); ok {
			out[o.Name] = r
		}
	}
	return out
}

func labelled(namespace config.Resource) bool {
	return namespace.Options.(*kinds.Namespace).Labels["mif"] == "enabled"
}
