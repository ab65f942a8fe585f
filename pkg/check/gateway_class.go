package check

import "fmt"

func gatewayClass() Check {
	return Check{
		Code: "MIF020", Title: "Gateway class differs", Severity: fault,
		Why: "The chart makes the objects that its class needs: with another class than the gateway's, the DestinationRule for istio is missing or useless, and requests fail at the scheduler.",
		Fix: "Refer to the gateway's own: gateway_class = gateway.<name>.class, in a helm_release values.gateway.gatewayClassName.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, s := range c.schedulers {
				g, ok := s.gateway(c)
				if !ok {
					continue
				}
				class, given := textAt(s.values, "gateway", "gatewayClassName"), "is"
				if class == "" {
					class, given = "kgateway", "is by default"
				}
				if want := g.class; class != want {
					out = append(out, s.finding(s.valuePath("gateway_class", "gateway", "gatewayClassName"), fmt.Sprintf("The release's class %s %q, that of %s is %q.", given, class, g.resource.Address, want)))
				}
			}
			return out
		},
	}
}
