package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func secretAwaited() Check {
	return Check{
		Code: "MIF036", Title: "Pull secret that nobody brings", Severity: fault,
		Why: "The framework's replicator copies its secret only into namespaces with the label mif=enabled, so apply would wait in vain.",
		Fix: "Add labels = { mif = \"enabled\" } to the namespace, or use another mode.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, r := range c.credentials {
				o := r.Options.(*kinds.ECRCredentials)
				if ns, ok := c.namespaces[o.Namespace]; ok && !labelled(ns) && o.Mode == resource.CredentialReplicated && r.Objects[0].ID.Name == replicatedSecret {
					out = append(out, finding(r, "mode", fmt.Sprintf("mode is \"replicated\", but %s has no label mif = \"enabled\".", ns.Address)))
				}
			}
			return out
		},
	}
}
