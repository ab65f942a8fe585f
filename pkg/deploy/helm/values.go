package helm

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// copyTree is a deep copy in which whole floats are integers, so that values which came back
// from a release's JSON compare equal to the author's.
func copyTree(v map[string]any) map[string]any {
	if v == nil {
		return map[string]any{}
	}
	return copyValue(v).(map[string]any)
}

func copyValue(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, x := range t {
			out[k] = copyValue(x)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, x := range t {
			out[i] = copyValue(x)
		}
		return out
	case float64:
		if t == float64(int64(t)) && t < 1<<53 && t > -(1<<53) {
			return int64(t)
		}
	case int:
		return int64(t)
	}
	return v
}

// unknownKeys are warnings about the author's values that neither the chart's own values nor its
// templates know: without a schema Helm ignores them in silence. A chart with a schema is left
// to it.
func unknownKeys(ch *chart.Chart, values map[string]any) []string {
	if len(ch.Schema) > 0 {
		return nil
	}
	var text strings.Builder
	collectTemplates(ch, &text)
	var out []string
	walkKeys(nil, values, defaults(ch), text.String(), &out)
	return out
}

// istioDefaults is the key under which Istio's charts keep their defaults; a template of theirs lays
// the author's values over them.
const istioDefaults = "_internal_defaults_do_not_set"

// defaults are the chart's values with those of its subcharts below their names.
func defaults(ch *chart.Chart) map[string]any {
	out := copyTree(ch.Values)
	if own, ok := out[istioDefaults].(map[string]any); ok {
		out = laid(copyTree(own), out)
	}
	for _, dep := range ch.Dependencies() {
		own, _ := out[dep.Name()].(map[string]any)
		out[dep.Name()] = laid(defaults(dep), own)
	}
	if ch.Metadata != nil {
		for _, dep := range ch.Metadata.Dependencies { // aliases, conditions, tags
			if dep.Alias != "" {
				out[dep.Alias] = nil
			}
		}
	}
	for _, free := range []string{"global", "tags"} {
		if _, ok := out[free]; !ok {
			out[free] = nil
		}
	}
	return out
}

func laid(under, over map[string]any) map[string]any {
	for k, v := range over {
		u, uok := under[k].(map[string]any)
		o, ook := v.(map[string]any)
		if uok && ook {
			under[k] = laid(u, o)
			continue
		}
		under[k] = v
	}
	return under
}

func collectTemplates(ch *chart.Chart, into *strings.Builder) {
	for _, t := range ch.Templates {
		into.Write(t.Data)
	}
	for _, dep := range ch.Dependencies() {
		collectTemplates(dep, into)
	}
}

// walkKeys descends only into maps that the chart spells out: an empty or absent map, a list or
// a scalar takes whatever the author writes.
func walkKeys(at []string, values, known map[string]any, templates string, out *[]string) {
	for _, k := range sortedKeys(values) {
		here := append(slices.Clone(at), k)
		def, ok := known[k]
		if !ok {
			dotted := strings.Join(here, ".")
			if mentions(templates, ".Values."+dotted) || len(at) == 0 && strings.Contains(templates, `.Values "`+k+`"`) { // index .Values "k"
				continue
			}
			hint := suggestKey(k, at, known)
			*out = append(*out, fmt.Sprintf("values.%s: the chart knows no such key and will ignore it%s", dotted, hint))
			continue
		}
		v, isMap := values[k].(map[string]any)
		d, defMap := def.(map[string]any)
		if isMap && defMap && len(d) > 0 {
			walkKeys(here, v, d, templates, out)
		}
	}
}

// mentions finds text where no letter of a longer name follows.
func mentions(templates, text string) bool {
	for {
		i := strings.Index(templates, text)
		if i < 0 {
			return false
		}
		templates = templates[i+len(text):]
		if templates == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(templates[0])) {
			return true
		}
	}
}

func suggestKey(key string, at []string, known map[string]any) string {
	if best := nearest(key, sortedKeys(known)); best != "" {
		return fmt.Sprintf("; did you mean %s?", strings.Join(append(slices.Clone(at), best), "."))
	}
	return ""
}

// nearest is the known name within a third of the name's length in edits, "" for none.
func nearest(name string, known []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if n := edits(strings.ToLower(name), strings.ToLower(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// secrets are the sensitive texts of a spec, for finding them again inside rendered objects.
type secrets struct {
	salt  string
	texts []string
}

// shortest is the length below which a text is not searched for: it would hit by chance.
const shortest = 4

// add collects the texts below the pointers into spec.
func (s *secrets) add(spec map[string]any, pointers []string) {
	for _, p := range pointers {
		v, ok := state.Lookup(spec, p)
		if ok {
			s.collect(v)
		}
	}
	slices.SortFunc(s.texts, func(a, b string) int { return len(b) - len(a) })
}

func (s *secrets) collect(v any) {
	switch t := v.(type) {
	case string:
		if len(t) >= shortest {
			s.texts = append(s.texts, t)
		}
	case map[string]any:
		for _, x := range t {
			s.collect(x)
		}
	case []any:
		for _, x := range t {
			s.collect(x)
		}
	}
}

// hide replaces, in place, every occurrence of a secret text below v.
func (s secrets) hide(v any) any {
	switch t := v.(type) {
	case map[string]any:
		for k, x := range t {
			t[k] = s.hide(x)
		}
	case []any:
		for i, x := range t {
			t[i] = s.hide(x)
		}
	case string:
		for _, secret := range s.texts {
			if t == secret {
				return s.mask(secret)
			}
			t = strings.ReplaceAll(t, secret, s.mask(secret))
		}
		return t
	}
	return v
}

func (s secrets) mask(v any) string { return plan.Mask(state.Fingerprint(s.salt, v)[:8]) }

// maskAt replaces, in place, what the pointers name in a tree.
func (s secrets) maskAt(tree map[string]any, pointers []string) {
	replaceAt(tree, pointers, func(v any) any {
		if v == nil {
			return nil
		}
		return s.mask(v)
	})
}
