package block

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// tree remembers where the parts of a decoded block stand in the source.
type tree struct {
	name   string
	labels []string
	index  int
	rng    hcl.Range
	attrs  []named
	blocks []*tree
}

type named struct {
	name string
	attr *hcl.Attribute
}

// at walks a dotted path; label values may themselves hold dots, so names are matched as
// prefixes rather than by splitting.
func (t *tree) at(path string) hcl.Range {
	if path == "" {
		return t.rng
	}
	for _, a := range t.attrs {
		if rest, ok := cutStep(path, a.name); ok {
			return exprRange(a.attr.Expr, rest)
		}
	}
	for _, b := range t.blocks {
		if rest, ok := b.match(path); ok {
			return b.at(rest)
		}
	}
	return t.rng
}

// match consumes type, and label or index where present. A bare type means the first block.
func (t *tree) match(path string) (rest string, ok bool) {
	rest, ok = cutStep(path, t.name)
	if !ok {
		return "", false
	}
	for _, l := range t.labels {
		after, ok := cutStep(rest, l)
		if !ok {
			return t.matchIndex(rest)
		}
		rest = after
	}
	if len(t.labels) == 0 {
		return t.matchIndex(rest)
	}
	return rest, true
}

func (t *tree) matchIndex(rest string) (string, bool) {
	if after, ok := cutStep(rest, strconv.Itoa(t.index)); ok {
		return after, true
	}
	step, _, _ := strings.Cut(rest, ".")
	if _, err := strconv.Atoi(step); err == nil {
		return "", false
	}
	return rest, t.index == 0 && (len(t.labels) == 0 || rest == "")
}

// cutStep takes a name off the front of a dotted path.
func cutStep(path, name string) (rest string, ok bool) {
	if path == name {
		return "", true
	}
	return strings.CutPrefix(path, name+".")
}

// exprRange narrows an expression's range by following object keys and list indexes.
func exprRange(e hcl.Expression, path string) hcl.Range {
	for path != "" {
		sub, rest := stepInto(e, path)
		if sub == nil {
			break
		}
		e, path = sub, rest
	}
	return e.Range()
}

func stepInto(e hcl.Expression, path string) (hcl.Expression, string) {
	switch x := hcl.UnwrapExpression(e).(type) {
	case *hclsyntax.ObjectConsExpr:
		for _, it := range x.Items {
			k, diags := it.KeyExpr.Value(nil)
			if diags.HasErrors() || k.IsNull() || !k.IsKnown() || k.Type() != cty.String {
				continue
			}
			if rest, ok := cutStep(path, k.AsString()); ok {
				return it.ValueExpr, rest
			}
		}
	case *hclsyntax.TupleConsExpr:
		step, rest, _ := strings.Cut(path, ".")
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(x.Exprs) {
			return x.Exprs[i], rest
		}
	}
	return nil, ""
}

// exprAt is the sub-expression for a value path, nil when the expression does not show it.
func exprAt(e hcl.Expression, path cty.Path) hcl.Expression {
	steps := make([]string, 0, len(path))
	for _, s := range path {
		switch s := s.(type) {
		case cty.GetAttrStep:
			steps = append(steps, s.Name)
		case cty.IndexStep:
			switch {
			case s.Key.Type() == cty.String:
				steps = append(steps, s.Key.AsString())
			case s.Key.Type() == cty.Number:
				i, _ := s.Key.AsBigFloat().Int64()
				steps = append(steps, strconv.FormatInt(i, 10))
			}
		}
	}
	if len(steps) == 0 || slices.Contains(steps, "") {
		return nil
	}
	found := e
	for _, step := range steps {
		sub, rest := stepInto(found, step)
		if sub == nil || rest != "" {
			return found
		}
		found = sub
	}
	return found
}
