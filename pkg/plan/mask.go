package plan

import (
	"slices"
	"strings"
)

const maskOpen = "(sensitive value"

// Hidden is what people see instead of a secret.
const Hidden = maskOpen + ")"

// Mask is what a driver puts into an observation in the place of a secret: it
// tells that a value changed (the fingerprint differs) and nothing else. The
// fingerprint must be keyed (state.Fingerprint with the query's salt).
func Mask(fingerprint string) string {
	if fingerprint == "" {
		return Hidden
	}
	return maskOpen + " #" + fingerprint + ")"
}

// Unknown stands for a value that exists only once the object is applied: one that a chart makes
// at random.
const Unknown = "(known after apply)"

// Masked tells whether v stands for a secret.
func Masked(v any) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, maskOpen) && strings.HasSuffix(s, ")")
}

// Masked is a copy of the plan for people and programs that only look: fields that
// are sensitive show Hidden without the fingerprint.
func (p Plan) Masked() Plan {
	out := p
	out.Changes = make([]Change, len(p.Changes))
	for i, c := range p.Changes {
		c.Fields, c.Drift = masked(c.Fields), masked(c.Drift)
		c.Children = slices.Clone(c.Children)
		for k := range c.Children {
			c.Children[k].Fields = masked(c.Children[k].Fields)
		}
		out.Changes[i] = c
	}
	return out
}

func masked(fields []FieldDiff) []FieldDiff {
	out := slices.Clone(fields)
	for i := range out {
		if f := &out[i]; f.Sensitive {
			f.Before, f.After = hideAll(f.Before), hideAll(f.After)
		}
	}
	return out
}

func hideAll(v any) any {
	if v == nil {
		return nil
	}
	return Hidden
}
