package diagnostic

import (
	"fmt"
	"sort"
	"strings"
	"unicode"

	"github.com/agext/levenshtein"
)

// manyCandidates is from where on only candidates with the same first letter are compared.
const manyCandidates = 500

// Nearest is the candidate that given was probably meant to be, "" when none is near: equal
// but for case, separators or a plural, two letters swapped, or less than three edits away
// and less than half of the word. Ties go to the first candidate by name.
func Nearest(given string, candidates []string) string {
	best, bestDistance := "", 3
	folded := fold(given)
	for _, c := range candidates {
		if c == given || len(candidates) > manyCandidates && !sameStart(c, given) {
			continue
		}
		d := distance(given, folded, c)
		if d < bestDistance || d == bestDistance && c < best {
			best, bestDistance = c, d
		}
	}
	return best
}

func sameStart(a, b string) bool { return a != "" && b != "" && a[0] == b[0] }

// distance is 0 to 2 for near words, 3 for all others.
func distance(given, folded, candidate string) int {
	const far, maxDiff = 3, 8
	diff := len(candidate) - len(given)
	switch {
	case diff > maxDiff || diff < -maxDiff:
		return far
	case fold(candidate) == folded:
		return 0
	case swapped(given, candidate):
		return 1
	case diff >= far || diff <= -far:
		return far
	}
	if d := levenshtein.Distance(given, candidate, nil); d < far && d*2 < max(len(candidate), len(given)) {
		return d
	}
	return far
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

// fold takes away what people get wrong in a name they know: case, separators, a plural.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
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
