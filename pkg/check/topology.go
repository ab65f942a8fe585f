package check

import (
	"time"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// engines are the services of a scheduler's pool, or of the whole configuration where the
// pool is not known.
func (s scheduler) engines(c *config.Config) []service {
	var out []service
	for _, e := range services(c) {
		if s.pool == "" || e.pool() == s.pool && e.namespace == s.namespace {
			out = append(out, e)
		}
	}
	return out
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
func targets(c *config.Config, sc config.Scenario) []scheduler {
	if sc.Target == nil {
		return nil
	}
	r, ok := c.Resource(*sc.Target)
	if !ok || len(r.Objects) == 0 {
		return nil
	}
	g := r.Objects[len(r.Objects)-1].ID
	if _, ok := r.Options.(*kinds.Gateway); !ok {
		return nil
	}
	var out []scheduler
	for _, s := range schedulers(c) {
		if s.gatewayName() == g.Name && s.gatewayNamespace() == g.Namespace {
			out = append(out, s)
		}
	}
	return out
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
