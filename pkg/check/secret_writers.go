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
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, r := range c.credentials {
				o := r.Options.(*kinds.ECRCredentials)
				if ns, ok := c.namespaces[o.Namespace]; ok && labelled(ns) && o.Mode != resource.CredentialReplicated && r.Objects[0].ID.Name == replicatedSecret {
					out = append(out, finding(r, "mode", fmt.Sprintf("The namespace %q carries the label mif=enabled, and mode is %q.", o.Namespace, o.Mode)))
				}
			}
			return out
		},
	}
}

// replicatedSecret is the Secret that the framework replicates.
const replicatedSecret = "moreh-registry"

func labelled(namespace config.Resource) bool {
	return namespace.Options.(*kinds.Namespace).Labels["mif"] == "enabled"
}
