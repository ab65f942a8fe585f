package check

// role is what a plugin does; a plugin may have two.
type role int

const (
	roleHandler role = 1 << iota
	roleFilter
	roleScorer
	rolePicker
	roleResponse
)

// plugin is a plugin type of the endpoint picker.
type plugin struct {
	name string
	role role
	// metrics tells that the scorer reads the engines' metrics, prefix that it counts on the
	// engines' prefix cache.
	metrics, prefix bool
	params          []param
	// either names parameters of which one must be given, and not be empty or false.
	either []string
}

// param is a parameter: its name and the form of its values.
type param struct {
	name     string
	form     form
	required bool
}

// pluginTypes are the plugins of the heimdall scheduler v0.7.1 with the parameters that its
// documentation (v0.4.0) names.
func pluginTypes() []plugin {
	prefixRef := []param{{name: "prefixPluginType", form: formText}, {name: "prefixPluginName", form: formText}}
	picks := []param{{name: "maxNumOfEndpoints", form: formPositive}}
	return []plugin{
		{name: "single-profile-handler", role: roleHandler},
		{name: "pd-profile-handler", role: roleHandler, params: append([]param{
			{name: "threshold", form: formNatural}, {name: "decodeProfile", form: formText}, {name: "prefillProfile", form: formText},
			{name: "hashBlockSize", form: formPositive}, {name: "primaryPort", form: formPort},
		}, prefixRef...)},
		{name: "by-label", role: roleFilter, params: []param{
			{name: "label", form: formText, required: true}, {name: "validValues", form: formTexts}, {name: "allowsNoLabel", form: formBool},
		}, either: []string{"validValues", "allowsNoLabel"}},
		{name: "by-label-selector", role: roleFilter, params: []param{{name: "matchLabels", form: formTextMap}, {name: "matchExpressions", form: formExpressions}}},
		{name: "prefill-filter", role: roleFilter},
		{name: "decode-filter", role: roleFilter},
		{name: "context-length-aware", role: roleFilter | roleScorer, params: []param{{name: "label", form: formText}, {name: "enableFiltering", form: formBool}}},
		{name: "active-request-scorer", role: roleScorer, params: []param{{name: "requestTimeout", form: formDuration}}},
		{name: "load-aware-scorer", role: roleScorer, metrics: true, params: []param{{name: "threshold", form: formPositive}}},
		{name: "no-hit-lru-scorer", role: roleScorer, prefix: true, params: append([]param{{name: "lruSize", form: formPositive}}, prefixRef...)},
		{name: "prefix-cache-scorer", role: roleScorer, prefix: true, params: []param{
			{name: "autoTune", form: formBool}, {name: "blockSize", form: formPositive},
			{name: "maxPrefixBlocksToMatch", form: formPositive}, {name: "lruCapacityPerServer", form: formPositive},
		}},
		{name: "precise-prefix-cache-scorer", role: roleScorer, prefix: true, params: []param{
			{name: "tokenProcessorConfig", form: formMap}, {name: "indexerConfig", form: formMap}, {name: "kvEventsConfig", form: formMap},
		}},
		{name: "session-affinity-scorer", role: roleScorer},
		{name: "kv-cache-utilization-scorer", role: roleScorer, metrics: true},
		{name: "queue-scorer", role: roleScorer, metrics: true},
		{name: "running-requests-size-scorer", role: roleScorer, metrics: true},
		{name: "lora-affinity-scorer", role: roleScorer, metrics: true},
		{name: "max-score-picker", role: rolePicker, params: picks},
		{name: "random-picker", role: rolePicker, params: picks},
		{name: "weighted-random-picker", role: rolePicker, params: picks},
		{name: "response-header-handler", role: roleResponse},
	}
}

// typesByName are the plugin types for look-up.
func typesByName() map[string]plugin {
	out := map[string]plugin{}
	for _, p := range pluginTypes() {
		out[p.name] = p
	}
	return out
}

// names of the parameters.
func (p plugin) names() []string {
	var out []string
	for _, x := range p.params {
		out = append(out, x.name)
	}
	return out
}

func (p plugin) param(name string) (param, bool) {
	for _, x := range p.params {
		if x.name == name {
			return x, true
		}
	}
	return param{}, false
}
