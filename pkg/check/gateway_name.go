package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func gatewayName() Check {
	return Check{
		Code: "MIF019", Title: "Scheduler without a gateway", Severity: fault,
		Why: "The chart's HTTPRoute needs a gateway to attach to: without a name the API server refuses it, with a wrong one no request arrives.",
		Fix: "Refer to the gateway block: gateway = gateway.<name>.name, in a helm_release values.gateway.name.",
		Run: func(c *config.Config) []Finding {
			var out []Finding
			for _, s := range schedulers(c) {
				path := s.valuePath("gateway", "gateway", "name")
				if s.gatewayName() == "" {
					out = append(out, s.finding(path, "The name of the gateway is empty."))
					continue
				}
				var names []string
				for _, g := range gateways(c) {
					names = append(names, g.Objects[len(g.Objects)-1].ID.Name)
				}
				if _, ok := s.gateway(c); !ok && len(names) > 0 {
					out = append(out, s.finding(path, fmt.Sprintf("No gateway of this configuration is called %q in namespace %q.%s", s.gatewayName(), s.gatewayNamespace(), nearest(s.gatewayName(), names))))
				}
			}
			return out
		},
	}
}

// gateways are the gateway blocks; the Gateway is the last of a block's objects.
func gateways(c *config.Config) []config.Resource {
	var out []config.Resource
	for _, r := range c.Resources {
		if _, ok := r.Options.(*kinds.Gateway); ok && len(r.Objects) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// gateway is the block of the gateway that the release attaches to.
func (s scheduler) gateway(c *config.Config) (config.Resource, bool) {
	for _, g := range gateways(c) {
		id := g.Objects[len(g.Objects)-1].ID
		if id.Name == s.gatewayName() && id.Namespace == s.gatewayNamespace() {
			return g, true
		}
	}
	return config.Resource{}, false
}
