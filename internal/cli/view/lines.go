package view

import "strings"

// edit is one line of a line-by-line difference.
type edit struct {
	sign byte // ' ', '+', '-'
	text string
}

// maxLines bounds the quadratic comparison; longer texts are compared between their common
// beginning and end only.
const maxLines = 2000

// diffLines compares two texts by lines with the longest common subsequence.
func diffLines(before, after string) []edit {
	a, b := split(before), split(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	out := signed(' ', a[:start])
	out = append(out, middle(a[start:len(a)-end], b[start:len(b)-end])...)
	return append(out, signed(' ', a[len(a)-end:])...)
}

func middle(a, b []string) []edit {
	if len(a) == 0 || len(b) == 0 || len(a) > maxLines || len(b) > maxLines {
		return append(signed('-', a), signed('+', b)...)
	}
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	common[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return trace(a, b, common)
}

func trace(a, b []string, common [][]int) []edit {
	var out []edit
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	out = append(out, signed('-', a[i:])...)
	return append(out, signed('+', b[j:])...)
}

func signed(sign byte, lines []string) []edit {
	out := make([]edit, 0, len(lines))
	for _, l := range lines {
		out = append(out, edit{sign, l})
	}
	return out
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// near keeps changed lines and context lines around them; the others become one edit with
// sign '~' whose text says how many there were.
func near(edits []edit, context int) []edit {
	keep := make([]bool, len(edits))
	for i, e := range edits {
		if e.sign == ' ' {
			continue
		}
		for k := max(0, i-context); k <= min(len(edits)-1, i+context); k++ {
			keep[k] = true
		}
	}
	var out []edit
	hidden := 0
	flush := func() {
		if hidden > 0 {
			out = append(out, edit{'~', plural(hidden, "unchanged line") + " hidden"})
		}
		hidden = 0
	}
	for i, e := range edits {
		if !keep[i] {
			hidden++
			continue
		}
		flush()
		out = append(out, e)
	}
	flush()
	return out
}
