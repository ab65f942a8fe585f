package check

import (
	"sort"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config"
)

// hidden stands for a sensitive text.
const hidden = "(sensitive value)"

// masker takes the sensitive texts of a configuration out of what checks say. Checks quote
// values, and a secret may sit in any of them.
// The texts are looked for only when there is something to say.
type masker struct{ replacer func() *strings.Replacer }

func newMasker(c *config.Config) masker {
	return masker{replacer: sync.OnceValue(func() *strings.Replacer {
		var pairs []string
		for _, s := range secretTexts(c) {
			pairs = append(pairs, s, hidden)
		}
		return strings.NewReplacer(pairs...)
	})}
}

func (m masker) texts(list []string) {
	for i, s := range list {
		list[i] = m.replacer().Replace(s)
	}
}

func (m masker) diagnostics(list hcl.Diagnostics) {
	for _, d := range list {
		d.Detail = m.replacer().Replace(d.Detail)
	}
}

// secretTexts are the sensitive texts of variables and objects, longest first. Texts of one or
// two characters say nothing and would blot out words.
func secretTexts(c *config.Config) []string {
	seen := map[string]bool{}
	add := func(_, text string) {
		if len(text) > 2 {
			seen[text] = true
		}
	}
	for _, v := range c.Variables {
		if v.Sensitive && v.Value != cty.NilVal {
			plain, _ := v.Value.UnmarkDeep()
			eachValueText(plain, add)
		}
	}
	for _, o := range c.Objects() {
		for _, pointer := range o.Sensitive {
			steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
			for i, s := range steps {
				steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
			}
			eachText(dig(o.Spec, steps...), "", add)
		}
	}
	out := make([]string, 0, len(seen))
	for s := range seen {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return len(out[i]) > len(out[j]) || len(out[i]) == len(out[j]) && out[i] < out[j] })
	return out
}

func eachValueText(v cty.Value, visit func(path, text string)) {
	switch {
	case v.IsNull() || !v.IsKnown():
	case v.Type() == cty.String:
		visit("", v.AsString())
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, x := it.Element()
			eachValueText(x, visit)
		}
	}
}
