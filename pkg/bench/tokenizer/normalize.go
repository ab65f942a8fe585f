package tokenizer

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is split.
type normalizer func(string) string

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
		return []normalizer{norm.NFC.String}, nil
	case "Prepend":
		return []normalizer{func(s string) string {
			if s == "" {
				return s
			}
			return n.Prepend + s
		}}, nil
	case "Replace":
		if n.Pattern.String == nil {
			return nil, fmt.Errorf("normalizer Replace with a regular expression is not supported")
		}
		old := *n.Pattern.String
		return []normalizer{func(s string) string { return strings.ReplaceAll(s, old, n.Content) }}, nil
	}
	return nil, fmt.Errorf("normalizer %q is not supported; Sequence, NFC, Prepend and Replace are", n.Type)
}
