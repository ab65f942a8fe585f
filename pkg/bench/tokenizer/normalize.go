package tokenizer

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split.
type normalizer struct {
	apply func(string) string
	// undo gives the original of a beginning of the changed text; nil when it cannot be told.
	undo func(string) string
}

// normalizers lists a normalizer's steps.
func normalizers(n *normalizerSpec) ([]normalizer, error) {
	if n == nil {
		return nil, nil
	}
	switch n.Type {
	case "Sequence":
		var all []normalizer
		for i := range n.Normalizers {
			sub, err := normalizers(&n.Normalizers[i])
			if err != nil {
				return nil, err
			}
			all = append(all, sub...)
		}
		return all, nil
	case "NFC":
		return []normalizer{{apply: norm.NFC.String}}, nil
	case "Prepend":
		return []normalizer{{
			apply: func(s string) string {
				if s == "" {
					return s
				}
				return n.Prepend + s
			},
			undo: func(s string) string { return strings.TrimPrefix(s, n.Prepend) },
		}}, nil
	case "Replace":
		if n.Pattern.String == nil {
			return nil, fmt.Errorf("normalizer Replace with a regular expression is not supported")
		}
		old := *n.Pattern.String
		r := normalizer{apply: func(s string) string { return strings.ReplaceAll(s, old, n.Content) }}
		if n.Content != "" {
			r.undo = func(s string) string { return strings.ReplaceAll(s, n.Content, old) }
		}
		return []normalizer{r}, nil
	}
	return nil, fmt.Errorf("normalizer %q is not supported; Sequence, NFC, Prepend and Replace are", n.Type)
}

// original is how many bytes of the text a beginning of its normalized form comes from; 0
// when that cannot be told. A text that has written out itself what a normalizer writes may
// make it wrong.
func (t *Tokenizer) original(normalized string) int {
	for i := len(t.normal) - 1; i >= 0; i-- {
		if t.normal[i].undo == nil {
			return 0
		}
		normalized = t.normal[i].undo(normalized)
	}
	return len(normalized)
}
