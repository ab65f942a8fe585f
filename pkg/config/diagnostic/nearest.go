package diagnostic

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest is the candidate that given was probably meant to be, "" when none is near: equal
// but for case, separators or a plural, two letters swapped, or less than three edits away and less than half of
// the word. Ties go to the first candidate by name.
func Nearest(given string, candidates []string) string {
	best, bestDistance := "", 3
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	for _, c := range sorted {
		if fold(c) == fold(given) && c != given {
			return c
		}
		d := levenshtein.Distance(given, c, nil)
		if swapped(given, c) {
			d = 1
		}
		if d < bestDistance && d*2 < max(len(c), len(given)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// swapped tells whether two neighbouring letters changed places, the commonest of typos.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

func fold(s string) string {
	s = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	return strings.TrimSuffix(s, "s")
}

// DidYouMean is ` Did you mean "x"?` or nothing, to be put behind a sentence.
func DidYouMean(given string, candidates []string) string {
	if n := Nearest(given, candidates); n != "" {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}

// maxListed bounds the lists of allowed names in a message.
const maxListed = 24

// List is "a, b and c", sorted; long lists are cut and say so.
func List(names []string) string {
	sorted := append([]string(nil), names...)
	sort.Strings(sorted)
	more := ""
	if len(sorted) > maxListed {
		more = fmt.Sprintf(" and %d more", len(sorted)-maxListed)
		sorted = sorted[:maxListed]
	}
	if n := len(sorted); n > 1 && more == "" {
		return strings.Join(sorted[:n-1], ", ") + " and " + sorted[n-1]
	}
	return strings.Join(sorted, ", ") + more
}
