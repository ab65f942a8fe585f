package check

import (
	"time"

	"github.com/mifbench/mifbench/pkg/config"
)

// engines are the services of a scheduler's pool, or of the whole configuration where the
// pool is not known.
func (s scheduler) engines(c *Model) []service {
	if s.pool == "" {
		return c.services
	}
	return c.byPool[place{s.namespace, s.pool}]
}

// gatewayName is the gateway that the release's route attaches to.
func (s scheduler) gatewayName() string { return textAt(s.values, "gateway", "name") }

// gatewayNamespace is the namespace of that gateway.
func (s scheduler) gatewayNamespace() string {
	if ns := textAt(s.values, "gateway", "namespace"); ns != "" {
		return ns
	}
	return s.namespace
}

// targets are the schedulers that a scenario's requests meet.
func targets(c *Model, sc config.Scenario) []scheduler {
	if sc.Target == nil {
		return nil
	}
	g, ok := c.byAddress[*sc.Target]
	if !ok {
		return nil
	}
	return c.byGateway[g.place]
}

// expected is how long a request of a scenario may take: from the limits that the scenario
// sets, else by Little's law from the throughput that it refers to; 0 when neither is there.
func expected(sc config.Scenario) time.Duration {
	if s := sc.SLO; s != nil {
		if s.E2EL > 0 {
			return s.E2EL
		}
		if s.ITL > 0 && sc.OutputTokens > 0 {
			return s.TTFT + time.Duration(sc.OutputTokens)*s.ITL
		}
	}
	if r := sc.Reference; r != nil {
		if r.ITLMillis != nil && sc.OutputTokens > 0 {
			return time.Duration(float64(sc.OutputTokens) * *r.ITLMillis * float64(time.Millisecond))
		}
		if r.OutputTokensPerSecond != nil && *r.OutputTokensPerSecond > 0 {
			seconds := float64(sc.Load.MaxConcurrency) * float64(sc.OutputTokens) / *r.OutputTokensPerSecond
			return time.Duration(seconds * float64(time.Second))
		}
	}
	return 0
}
