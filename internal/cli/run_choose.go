package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/config"
)

// pick selects scenarios by name, in the file's order: label["key"] is one instance, a label
// all of them. No names select all.
func pick(cfg *config.Config, names []string) ([]config.Scenario, error) {
	if len(cfg.Scenarios) == 0 {
		return nil, fmt.Errorf("the configuration has no scenario block, so there is nothing to run")
	}
	if len(names) == 0 {
		return cfg.Scenarios, nil
	}
	var out []config.Scenario
	used := map[string]bool{}
	for _, s := range cfg.Scenarios {
		for _, n := range names {
			if n == s.Name || n == s.Address.Name || n == strings.Trim(s.Address.Key, `"`) {
				used[n] = true
				out = append(out, s)
				break
			}
		}
	}
	for _, n := range names {
		if !used[n] {
			return nil, fmt.Errorf("there is no scenario %q; the configuration has %s", n, strings.Join(namesOf(cfg.Scenarios), ", "))
		}
	}
	return out, nil
}

func namesOf(scenarios []config.Scenario) []string {
	out := make([]string, len(scenarios))
	for i, s := range scenarios {
		out[i] = s.Name
	}
	return out
}

func needCluster(scenarios []config.Scenario) bool {
	for _, s := range scenarios {
		if s.Target != nil {
			return true
		}
	}
	return false
}

// runnable says what of a scenario this version cannot do, so that nothing is silently
// measured in another way.
func runnable(s config.Scenario, forcedLocal bool) error {
	switch {
	case s.Engine == "vllm":
		return fmt.Errorf(`engine = "vllm" (the stock client in a pod) is not part of this version; use "native"`)
	case s.Client != nil && s.Client.Mode == "cluster" && !forcedLocal:
		return fmt.Errorf(`client mode "cluster" (load from pods) is not part of this version; set client { mode = "local" }, or give --local to send from this machine`)
	case s.Dataset == nil:
		return fmt.Errorf("a dataset is needed: where prompts come from")
	case s.InputTokens == 0 && s.Dataset.Kind == "":
		return fmt.Errorf("input_tokens is needed: how long prompts are")
	}
	return nil
}

// describe is one scenario's line before it starts.
func describe(s config.Scenario) string {
	l := s.Load
	what := fmt.Sprintf("%d requests", l.Requests)
	if l.Requests == 0 {
		what = l.Duration.String() + " of requests"
	}
	if l.RequestRate > 0 {
		what += fmt.Sprintf(" at %.4g/s", l.RequestRate)
	}
	if l.MaxConcurrency > 0 {
		what += fmt.Sprintf(", at most %d in flight", l.MaxConcurrency)
	}
	return fmt.Sprintf("%s: %d/%d tokens, %s", s.Name, s.InputTokens, s.OutputTokens, what)
}

// printSchedule is the dry run: what would be sent, and for how long at least.
func (a *app) printSchedule(chosen []config.Scenario) error {
	var total time.Duration
	for _, s := range chosen {
		least := s.Load.Duration
		if s.Load.RequestRate > 0 && s.Load.Requests > 0 {
			least = time.Duration(float64(s.Load.Requests) / s.Load.RequestRate * float64(time.Second))
		}
		total += least
		if _, err := fmt.Fprintf(a.env.Stdout, "%s; sends for at least %s\n", describe(s), least.Round(time.Second)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.env.Stdout, "%d scenarios, at least %s\n", len(chosen), total.Round(time.Second))
	return err
}
