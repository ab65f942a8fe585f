package tokenizer

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher finds added tokens in a text, the leftmost first and of those the longest.
type matcher struct {
	byFirst [256][]added
	// second has a bit for each second byte that a longer token has, after its first.
	second [256][4]uint64
	// single says that a token of one byte begins with it.
	single [256]bool
	any    bool
}

func newMatcher(tokens []added) matcher {
	var m matcher
	for _, t := range tokens {
		if t.Content != "" {
			m.any = true
			first := t.Content[0]
			if len(t.Content) == 1 {
				m.single[first] = true
			} else {
				m.second[first][t.Content[1]>>6] |= 1 << (t.Content[1] & 63)
			}
			m.byFirst[t.Content[0]] = append(m.byFirst[t.Content[0]], t)
		}
	}
	for _, list := range m.byFirst {
		sort.SliceStable(list, func(a, b int) bool { return len(list[a].Content) > len(list[b].Content) })
	}
	return m
}

// begins tells by two bytes whether a token may begin at byte i. Models have hundreds of
// tokens that begin with <, and some texts do, too.
func (m *matcher) begins(text string, i int) bool {
	if m.single[text[i]] {
		return true
	}
	return i+1 < len(text) && m.second[text[i]][text[i+1]>>6]>>(text[i+1]&63)&1 != 0
}

// find returns the first token at or after from.
func (m *matcher) find(text string, from int) (start, end int, token *added, ok bool) {
	if !m.any {
		return 0, 0, nil, false
	}
	for i := from; i < len(text); i++ {
		list := m.byFirst[text[i]]
		if list == nil || !m.begins(text, i) {
			continue
		}
		for k := range list {
			if strings.HasPrefix(text[i:], list[k].Content) {
				end := i + len(list[k].Content)
				if list[k].SingleWord && !alone(text, i, end) {
					continue
				}
				return i, end, &list[k], true
			}
		}
	}
	return 0, 0, nil, false
}

// alone tells whether no letter, digit or underscore touches text[from:to].
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
	return (from == 0 || !word(before)) && (to == len(text) || !word(after))
}

// each calls token and part in order of the text.
func (m *matcher) each(text string, token func(int32), part func(string)) {
	done := 0
	for at := 0; ; {
		start, end, t, ok := m.find(text, at)
		if !ok {
			break
		}
		if t.Lstrip {
			start = done + len(strings.TrimRightFunc(text[done:start], unicode.IsSpace))
		}
		if t.Rstrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > done {
			part(text[done:start])
		}
		token(t.ID)
		at, done = end, end
	}
	if done < len(text) {
		part(text[done:])
	}
}
