package helm

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// random matches template functions whose result differs from one rendering to the next.
func random() *regexp.Regexp {
	return regexp.MustCompile(`\b(rand(AlphaNum|Alpha|Numeric|Ascii|Bytes|Int)|genCA|genCAWithKey|genSelfSignedCert|genSignedCert|genPrivateKey|uuidv4|now|htpasswd|bcrypt|encryptAES|shuffle)\b`)
}

// actions matches what a template computes; the text around it may have the same words ("for now").
func actions() *regexp.Regexp { return regexp.MustCompile(`(?s)\{\{.*?\}\}`) }

// usesRandom tells whether any template of the chart or its subcharts calls such a function.
func usesRandom(ch *chart.Chart) bool {
	words, inside := random(), actions()
	for _, t := range ch.Templates {
		if slices.ContainsFunc(inside.FindAll(t.Data, -1), words.Match) {
			return true
		}
	}
	return slices.ContainsFunc(ch.Dependencies(), usesRandom)
}

// longAgo stands for the function now in a second rendering: two renderings of one moment would
// agree on the time.
const longAgo = `${1}(toDate "2006-01-02" "2001-02-03")${2}`

// freeze replaces calls of now in the chart's templates, in place.
func freeze(ch *chart.Chart) {
	call := regexp.MustCompile(`([\s({|])now([\s)}|])`)
	for _, t := range ch.Templates {
		t.Data = actions().ReplaceAllFunc(t.Data, func(action []byte) []byte { return call.ReplaceAll(action, []byte(longAgo)) })
	}
	for _, dep := range ch.Dependencies() {
		freeze(dep)
	}
}

// compareRenderings finds the fields that differ between two renderings of the same chart, by the
// objects' keys. named is false when the objects themselves differ: random names.
func compareRenderings(a, b []child) (unstable map[string][]string, named bool) {
	other := map[string]map[string]any{}
	for _, c := range b {
		other[c.id.Key()] = c.spec
	}
	unstable, named = map[string][]string{}, len(a) == len(b)
	for _, c := range a {
		spec, ok := other[c.id.Key()]
		if !ok {
			named = false
			continue
		}
		if list := differing("", c.spec, spec); len(list) > 0 {
			unstable[c.id.Key()] = list
		}
	}
	return unstable, named
}

// differing lists the JSON pointers at which two values differ, as deep as possible.
func differing(at string, a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return []string{at}
		}
		return differingKeys(at, x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return []string{at}
		}
		var out []string
		for i := range x {
			out = append(out, differing(fmt.Sprintf("%s/%d", at, i), x[i], y[i])...)
		}
		return out
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{at}
}

func differingKeys(at string, x, y map[string]any) []string {
	keys := sortedKeys(x)
	for k := range y {
		if _, both := x[k]; !both {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	var out []string
	for _, k := range keys {
		out = append(out, differing(at+"/"+escape(k), x[k], y[k])...)
	}
	return out
}

func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// fingerprint stands for everything that a rendering and the next one have in common.
func (r rendering) fingerprint(salt string) string {
	if len(r.unstable) == 0 {
		return state.Fingerprint(salt, r.manifest)
	}
	list := make([]any, 0, len(r.objects))
	for _, c := range r.objects {
		tree := copyTree(c.spec)
		replaceAt(tree, r.unstable[c.id.Key()], func(any) any { return plan.Unknown })
		list = append(list, []any{c.id.Key(), tree})
	}
	return state.Fingerprint(salt, list)
}

// forget puts plan.Unknown in the place of what the next rendering makes anew.
func (r rendering) forget(children []plan.Observation) {
	for i := range children {
		c := &children[i]
		if c.Predicted == nil {
			continue
		}
		for _, p := range r.unstable[c.ID.Key()] {
			if c.ID.Kind == "Secret" { // the server writes stringData as data
				p = strings.Replace(p, "/stringData/", "/data/", 1)
			}
			replaceAt(c.Predicted, []string{p}, func(any) any { return plan.Unknown })
		}
	}
}

// likePlanned is a post-renderer that changes nothing: it lets Helm's own rendering pass when that
// differs from the planned one only where all renderings differ. Hooks and objects then hold the
// same random values.
type likePlanned struct {
	d   *Driver
	id  resource.ID
	ren rendering
}

// Run implements postrender.PostRenderer.
func (l likePlanned) Run(text *bytes.Buffer) (*bytes.Buffer, error) {
	list, err := l.d.children(text.String(), l.id.Namespace)
	if err != nil {
		return nil, err
	}
	got := rendering{objects: list, unstable: l.ren.unstable}
	if got.fingerprint("") != l.ren.fingerprint("") {
		return nil, fmt.Errorf("%s: %w: its templates gave something else than at plan, beyond random values; plan again", l.id, deploy.ErrChanged)
	}
	return text, nil
}

// replaceAt changes, in place, the values that JSON pointers name in a tree; pointers to nothing
// are passed over.
func replaceAt(tree map[string]any, pointers []string, change func(any) any) {
	for _, p := range pointers {
		steps := strings.Split(strings.TrimPrefix(p, "/"), "/")
		for i, s := range steps {
			steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
		}
		replaceStep(tree, steps, change)
	}
}

func replaceStep(at any, steps []string, change func(any) any) {
	last := len(steps) == 1
	switch t := at.(type) {
	case map[string]any:
		v, ok := t[steps[0]]
		switch {
		case !ok:
		case last:
			t[steps[0]] = change(v)
		default:
			replaceStep(v, steps[1:], change)
		}
	case []any:
		var i int
		if n, err := fmt.Sscanf(steps[0], "%d", &i); n != 1 || err != nil || i < 0 || i >= len(t) {
			return
		}
		if last {
			t[i] = change(t[i])
			return
		}
		replaceStep(t[i], steps[1:], change)
	}
}
