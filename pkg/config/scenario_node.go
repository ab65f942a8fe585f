package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/resource"
)

// scenarioNode evaluates a scenario block.
type scenarioNode struct {
	schema, refs *block.Schema
	block        *hclsyntax.Block
}

func (r *scenarioNode) run(e *evaluator, n *node) {
	_, list, ok := e.instances(r.block, e.scope(n, true), n.bad)
	n.bad = n.bad || !ok
	for _, inst := range list {
		s, ok := r.instance(e, n, inst)
		if n.bad = n.bad || !ok; ok {
			e.config.Scenarios = append(e.config.Scenarios, s)
		}
	}
}

func (r *scenarioNode) instance(e *evaluator, n *node, inst instance) (Scenario, bool) {
	addr := n.id.address()
	addr.Key = inst.key
	s := Scenario{Address: addr, Range: r.block.DefRange()}
	pending := map[string]bool{"endpoint": true, "headers": true, "model": true}
	decoded, ok := e.decode(r.schema, r.block, n, inst.ctx, &s, pending)
	s.Name, s.At = instanceName(addr), decoded.At
	for _, name := range sorted(keys(pending)) {
		if a := r.block.Body.Attributes[name]; a != nil {
			if _, known := decoded.Values[name]; !known {
				s.Pending = append(s.Pending, name)
			}
		}
	}
	var refs scenarioRefs
	_, refsOK := e.decode(r.refs, r.block, n, inst.ctx, &refs, map[string]bool{"target": true, "dataset": true})
	before := len(e.diags)
	r.target(e, n, inst, &s)
	r.dataset(e, n, inst, &s)
	if !ok || !refsOK || n.flawed {
		return s, false
	}
	e.fail(checkScenario(r.block, &s)...)
	return s, !e.diags[before:].HasErrors()
}

// object evaluates an attribute that must be a block's value, and gives its id.
func (r *scenarioNode) object(e *evaluator, n *node, inst instance, name, example string) (cty.Value, string, bool) {
	a := r.block.Body.Attributes[name]
	if a == nil {
		return cty.NilVal, "", false
	}
	v, diags := a.Expr.Value(inst.ctx)
	if diags.HasErrors() {
		return cty.NilVal, "", false // said before
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return cty.NilVal, "", false
	}
	if v.IsKnown() && v.Type().IsObjectType() && v.Type().HasAttribute("id") {
		if id := v.GetAttr("id"); id.IsKnown() && !id.IsNull() && id.Type() == cty.String {
			return v, id.AsString(), true
		}
	}
	if !v.IsKnown() && n.bad {
		return cty.NilVal, "", false
	}
	e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: fmt.Sprintf("Invalid %s", name), Subject: a.Expr.Range().Ptr(), Context: a.SrcRange.Ptr(),
		Detail:     fmt.Sprintf("%q must name a block, without quotes and without an attribute behind it: %s = %s.", name, name, example),
		Expression: a.Expr, EvalContext: inst.ctx})
	return cty.NilVal, "", false
}

func (r *scenarioNode) target(e *evaluator, n *node, inst instance, s *Scenario) {
	v, id, ok := r.object(e, n, inst, "target", "gateway.mif")
	if !ok {
		return
	}
	addr, err := resource.ParseAddress(id)
	if _, kind := e.graph.language.kinds[addr.Kind]; err != nil || !kind {
		e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid target", Subject: s.At("target").Ptr(),
			Detail: fmt.Sprintf("%s is not a resource that could be benchmarked; name a resource such as gateway.mif, or set endpoint.", id)})
		return
	}
	s.Target, s.TargetAttrs = &addr, v.AsValueMap()
}

func (r *scenarioNode) dataset(e *evaluator, n *node, inst instance, s *Scenario) {
	_, id, ok := r.object(e, n, inst, "dataset", "dataset.sharegpt")
	if !ok {
		return
	}
	for i := range e.config.Datasets {
		if e.config.Datasets[i].Address.String() == id {
			s.Dataset = &e.config.Datasets[i]
			return
		}
	}
	e.fail(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid dataset", Subject: s.At("dataset").Ptr(),
		Detail: fmt.Sprintf("%s is not a dataset block; declare one: dataset \"name\" { path = … }.", id)})
}

// checkServer: a scenario has one way to its server, and its URLs are such.
func checkServer(b *hclsyntax.Block, s *Scenario, fail func(path, summary, format string, args ...any)) {
	given := 0
	for _, name := range []string{"target", "endpoint", "endpoints"} {
		if b.Body.Attributes[name] != nil {
			given++
		}
	}
	if given != 1 {
		fail("endpoint", "Give target or endpoint", "A scenario needs exactly one of target (a resource, such as gateway.mif), endpoint (a URL) and endpoints (URLs of equal servers).")
	}
	wrong := func(path, text string) {
		if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fail(path, "Invalid endpoint", "%q must be a URL that begins with http:// or https:// and names a host, for example \"http://127.0.0.1:8000\".", text)
		}
	}
	if s.Endpoint != "" {
		wrong("endpoint", s.Endpoint)
	}
	for _, e := range s.Endpoints {
		wrong("endpoints", e)
	}
	if b.Body.Attributes["endpoints"] != nil && len(s.Endpoints) == 0 && !slices.Contains(s.Pending, "endpoints") {
		fail("endpoints", "No endpoints", "The list must name at least one URL.")
	}
}

// checkScenario holds the attributes of a scenario against each other.
func checkScenario(b *hclsyntax.Block, s *Scenario) hcl.Diagnostics {
	var diags hcl.Diagnostics
	fail := func(path, summary, format string, args ...any) {
		rng := s.At(path)
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Subject: &rng, Context: b.DefRange().Ptr(), Detail: fmt.Sprintf(format, args...)})
	}
	checkServer(b, s, fail)
	if (s.Load.Requests > 0) == (s.Load.Duration > 0) {
		fail("load", "Give requests or duration", "A load block needs exactly one of requests (a number above 0) and duration (such as \"10m\").")
	}
	if s.Load.RequestRate == 0 && s.Load.MaxConcurrency == 0 {
		fail("load", "Unbounded load", "Without request_rate and max_concurrency every request would be sent at once; set one of them.")
	}
	if s.Load.Overflow == "drop" && s.Load.MaxConcurrency == 0 {
		fail("load.overflow", "Nothing to drop", "overflow = \"drop\" needs a max_concurrency that requests could exceed.")
	}
	checkConnection(s.Connection, fail)
	checkRanges(s, fail)
	checkWindow(s, fail)
	return diags
}

// checkRanges holds numbers against the values that make sense.
func checkRanges(s *Scenario, fail func(path, summary, format string, args ...any)) {
	for _, n := range []struct {
		path  string
		value float64
	}{
		{"input_tokens", float64(s.InputTokens)}, {"output_tokens", float64(s.OutputTokens)}, {"prompts", float64(s.Prompts)},
		{"load.requests", float64(s.Load.Requests)}, {"load.max_concurrency", float64(s.Load.MaxConcurrency)},
		{"load.request_rate", s.Load.RequestRate}, {"load.ramp_up_start_rate", s.Load.RampUpStart},
	} {
		if n.value < 0 {
			fail(n.path, "Negative number", "%s must not be negative; it is %v.", n.path, n.value)
		}
	}
	if s.Load.Burstiness <= 0 {
		fail("load.burstiness", "Invalid burstiness", "The burstiness must be above 0; 1 is a Poisson process, less is burstier.")
	}
	if c := s.Client; c != nil && c.Pods < 1 {
		fail("client.pods", "Invalid number of pods", "At least one client pod is needed.")
	}
	if m := s.Metrics; m != nil {
		for i, p := range m.Percentiles {
			if p < 0 || p > 100 {
				fail(fmt.Sprintf("metrics.percentiles.%d", i), "Percentile out of range", "%v is not a percentile; use numbers from 0 to 100.", p)
			}
		}
	}
	if c := s.Cost; c != nil && (c.GPUHour < 0 || c.GPUs < 1) {
		fail("cost", "Invalid cost", "gpu_hour must not be negative and gpus must be at least 1.")
	}
}

func checkWindow(s *Scenario, fail func(path, summary, format string, args ...any)) {
	w := s.Window
	if w == nil {
		return
	}
	if w.Auto && (w.Warmup > 0 || w.Cooldown > 0) {
		fail("window.auto", "Window given twice", "auto = true finds the window itself; remove warmup and cooldown, or auto.")
	}
	if s.Load.Duration > 0 && w.Warmup+w.Cooldown >= s.Load.Duration {
		fail("window.warmup", "Empty window", "warmup and cooldown take %s of a load of %s, so nothing is left to measure.", w.Warmup+w.Cooldown, s.Load.Duration)
	}
}
