package check_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// drawnPlugins are the plugin types that heimdall and llm-d's scheduler share, with parameters that
// fit and such that do not.
func drawnPlugins() map[string][]map[string]any {
	sizes := []any{1, 64, 0, -1, 1.5, "64"}
	return map[string][]map[string]any{
		"single-profile-handler": nil, "prefill-filter": nil, "decode-filter": nil, "session-affinity-scorer": nil,
		"kv-cache-utilization-scorer": nil, "queue-scorer": nil, "lora-affinity-scorer": nil,
		"pd-profile-handler": append(append(each("threshold", sizes), each("hashBlockSize", sizes)...),
			append(each("primaryPort", []any{0, 8000, 70000, -1, "8000"}), map[string]any{"prefillProfile": "a", "decodeProfile": "b"})...),
		"by-label": {{"label": "zone", "validValues": []any{"a"}}, {"label": "zone", "allowsNoLabel": true}, {"label": "zone"},
			{"validValues": []any{"a"}}, {"label": 1, "validValues": []any{"a"}}, {"label": "", "validValues": []any{"a"}}, {"label": "zone", "validValues": []any{1}}},
		"by-label-selector": {{"matchLabels": map[string]any{"a": "b"}}, {"matchLabels": []any{"a"}}, {"matchExpressions": []any{}},
			{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Exists"}}}, {"matchExpressions": []any{map[string]any{"key": "a", "operator": "Has"}}}, {}},
		"active-request-scorer":       each("requestTimeout", []any{"20m", "1h30m", 20, "0s"}),
		"load-aware-scorer":           each("threshold", sizes),
		"no-hit-lru-scorer":           append(each("lruSize", sizes), map[string]any{"prefixPluginName": "prefix-cache-scorer"}),
		"prefix-cache-scorer":         append(append(each("blockSize", sizes), each("maxPrefixBlocksToMatch", sizes)...), each("lruCapacityPerServer", sizes)...),
		"precise-prefix-cache-scorer": {{"indexerConfig": map[string]any{}}, {"indexerConfig": "x"}},
		"max-score-picker":            each("maxNumOfEndpoints", sizes),
		"random-picker":               each("maxNumOfEndpoints", sizes),
		"weighted-random-picker":      each("maxNumOfEndpoints", sizes),
	}
}

func each(name string, values []any) []map[string]any {
	var out []map[string]any
	for _, v := range values {
		out = append(out, map[string]any{name: v})
	}
	return out
}

// drawPicker makes a configuration that is mostly right: every part goes wrong now and then.
func drawPicker(seed uint64) map[string]any {
	d := drawer{rand.New(rand.NewPCG(seed, 3))}
	handler := pick(d, "single-profile-handler", "pd-profile-handler")
	plugins, refs := d.plugins(handler)
	out := map[string]any{"plugins": plugins}
	if profiles := d.profiles(handler, refs); len(profiles) > 0 || d.rarely() {
		out["schedulingProfiles"] = profiles
	}
	if d.rarely() {
		out["featureGates"] = []any{pick(d, "dataLayer", "flowControl", "none")}
	}
	if d.rarely() {
		out["saturationDetector"] = pick(d, map[string]any{"queueDepthThreshold": 5}, map[string]any{"kvCacheUtilThreshold": 0.8},
			map[string]any{"metricsStalenessThreshold": "1s"}, map[string]any{"metricsStalenessThreshold": "1x"}, map[string]any{"queueDepthThreshold": 0.5})
	}
	return out
}

type drawer struct{ *rand.Rand }

func (d drawer) rarely() bool { return d.IntN(25) == 0 }

func pick[T any](d drawer, from ...T) T { return from[d.IntN(len(from))] }

func (d drawer) plugins(handler string) (list []any, refs []string) {
	names := []string{
		"prefill-filter", "decode-filter", "by-label", "by-label-selector", "active-request-scorer", "load-aware-scorer",
		"no-hit-lru-scorer", "prefix-cache-scorer", "precise-prefix-cache-scorer", "session-affinity-scorer",
		"kv-cache-utilization-scorer", "queue-scorer", "lora-affinity-scorer", "max-score-picker", "random-picker", "weighted-random-picker",
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:1+d.IntN(6)]
	if !d.rarely() { // pickers last, as a reader expects
		slices.SortStableFunc(names, func(a, b string) int {
			return cmp.Compare(strings.Count(a, "picker"), strings.Count(b, "picker"))
		})
	}
	if !d.rarely() {
		names = append(names, handler)
	}
	if d.rarely() {
		names = append(names, pick(d, "single-profile-handler", "max-score-picker", "queue-scorers"))
	}
	for i, typ := range names {
		p := map[string]any{"type": typ}
		ref := typ
		if d.rarely() {
			ref = fmt.Sprintf("plugin-%d", i)
			p["name"] = ref
		}
		if ways := drawnPlugins()[typ]; len(ways) > 0 && (d.IntN(5) == 0 || typ == "by-label") {
			p["parameters"] = pick(d, ways...)
		}
		list, refs = append(list, p), append(refs, ref)
	}
	return list, refs
}

func (d drawer) profiles(handler string, refs []string) []any {
	names := map[string][]string{"single-profile-handler": {"default"}, "pd-profile-handler": {"prefill", "decode"}}[handler]
	if d.rarely() {
		names = pick(d, []string{"default"}, []string{"a", "b"}, nil)
	}
	if d.rarely() {
		names = append(names, pick(d, "default", "prefill", ""))
	}
	out := []any{}
	for _, name := range names {
		uses := []any{}
		pickers := 0
		for _, ref := range refs {
			if strings.HasSuffix(ref, "-picker") {
				pickers++
			}
			if d.IntN(3) == 0 || pickers > 1 && strings.HasSuffix(ref, "-picker") && !d.rarely() {
				continue
			}
			use := map[string]any{"pluginRef": ref}
			if d.IntN(2) == 0 {
				use["weight"] = pick(d, 1, 2, 0, -1, 10)
			}
			if d.IntN(100) == 0 {
				use["weight"] = 0.5
			}
			uses = append(uses, use)
		}
		if d.rarely() {
			d.Shuffle(len(uses), func(i, j int) { uses[i], uses[j] = uses[j], uses[i] })
		}
		if d.rarely() {
			uses = append(uses, map[string]any{"pluginRef": "undeclared"})
		}
		p := map[string]any{"plugins": uses}
		if name != "" {
			p["name"] = name
		}
		out = append(out, p)
	}
	return out
}
