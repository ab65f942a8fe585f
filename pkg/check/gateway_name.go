package check

import "fmt"

func gatewayName() Check {
	return Check{
		Code: "MIF019", Title: "Scheduler without a gateway", Severity: fault,
		Why: "The chart's HTTPRoute needs a gateway to attach to: without a name the API server refuses it, with a wrong one no request arrives.",
		Fix: "Refer to the gateway block: gateway = gateway.<name>.name, in a helm_release values.gateway.name.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, s := range c.schedulers {
				path := s.valuePath("gateway", "gateway", "name")
				if s.gatewayName() == "" {
					out = append(out, s.finding(path, "The name of the gateway is empty."))
					continue
				}
				if _, ok := s.gateway(c); !ok && len(c.gateways) > 0 {
					out = append(out, s.finding(path, fmt.Sprintf("No gateway of this configuration is called %q in namespace %q.%s", s.gatewayName(), s.gatewayNamespace(), nearest(s.gatewayName(), c.gatewayNames()))))
				}
			}
			return out
		},
	}
}

// gatewayNames are the names of the configuration's gateways.
func (m *Model) gatewayNames() []string {
	var out []string
	for _, g := range m.gateways {
		out = append(out, g.name)
	}
	return out
}

// gateway is the gateway that the release attaches to.
func (s scheduler) gateway(c *Model) (gateway, bool) {
	g, ok := c.gatewayAt[place{s.gatewayNamespace(), s.gatewayName()}]
	return g, ok
}
