package config

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Kinds are given plain values, so where a secret ends in an object is found afterwards, by
// the secret's text. A secret that is cut or re-encoded by a kind would escape; kinds pass
// texts on or put them into YAML, which the search by lines sees.

// minLine is the shortest line of a secret of several lines that is searched for by itself.
const minLine = 4

// withSecrets adds the places in a spec that hold one of the secrets.
func withSecrets(known []string, spec map[string]any, secrets []string) []string {
	if len(secrets) == 0 {
		return known
	}
	out := append([]string(nil), known...)
	walkSpec("", spec, func(pointer, text string) {
		if containsSecret(text, secrets) && !covered(out, pointer) {
			out = append(out, pointer)
		}
	})
	sort.Strings(out)
	return out
}

func covered(pointers []string, p string) bool {
	return slices.ContainsFunc(pointers, func(c string) bool { return p == c || strings.HasPrefix(p, c+"/") })
}

func walkSpec(path string, x any, visit func(pointer, text string)) {
	switch x := x.(type) {
	case map[string]any:
		for k, v := range x {
			walkSpec(path+"/"+escapePointer(k), v, visit)
		}
	case []any:
		for i, v := range x {
			walkSpec(fmt.Sprintf("%s/%d", path, i), v, visit)
		}
	case string:
		visit(path, x)
	case int64, float64:
		visit(path, fmt.Sprint(x))
	}
}

func containsSecret(text string, secrets []string) bool {
	for _, s := range secrets {
		if strings.Contains(text, s) {
			return true
		}
		if !strings.Contains(s, "\n") {
			continue
		}
		for _, line := range strings.Split(s, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine && strings.Contains(text, line) {
				return true
			}
		}
	}
	return false
}

func holdsSecret(v cty.Value, secrets []string) bool {
	raw, _ := v.UnmarkDeep()
	x, err := resource.JSON(raw)
	if err != nil {
		return true // cannot look inside: assume the worst
	}
	found := false
	walkSpec("", x, func(_, text string) { found = found || containsSecret(text, secrets) })
	return found
}

// maskSecrets keeps a kind's diagnostic from quoting a secret.
func maskSecrets(d *hcl.Diagnostic, secrets []string) *hcl.Diagnostic {
	if !containsSecret(d.Detail, secrets) && !containsSecret(d.Summary, secrets) {
		return d
	}
	out := *d
	for _, s := range secrets {
		out.Summary, out.Detail = maskText(out.Summary, s), maskText(out.Detail, s)
	}
	return &out
}

// minSecret is the shortest secret that is masked wherever it stands; shorter ones only
// where they are quoted, since they are part of ordinary words.
const minSecret = 3

func maskText(text, secret string) string {
	if len(secret) < minSecret {
		return strings.ReplaceAll(text, strconv.Quote(secret), "(sensitive value)")
	}
	text = strings.ReplaceAll(text, strconv.Quote(secret), "(sensitive value)")
	return strings.ReplaceAll(text, secret, "(sensitive value)")
}

// maskAll keeps the library's and the functions' messages from quoting what the expression
// at fault took from sensitive values.
func maskAll(diags hcl.Diagnostics) hcl.Diagnostics {
	out := make(hcl.Diagnostics, len(diags))
	for i, d := range diags {
		out[i] = d
		if d.Expression == nil || d.EvalContext == nil {
			continue
		}
		var secrets []string
		for _, t := range d.Expression.Variables() {
			if v, bad := t.TraverseAbs(d.EvalContext); !bad.HasErrors() {
				secrets = append(secrets, block.Secrets(v)...)
			}
		}
		if len(secrets) > 0 {
			out[i] = maskSecrets(d, secrets)
		}
	}
	return out
}
