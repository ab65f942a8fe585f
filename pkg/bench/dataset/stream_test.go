package dataset

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// A part of a file may begin and end inside a character, and its text may be short by one
// helping because its characters have many bytes a token.
func TestCutsFallBetweenCharacters(t *testing.T) {
	for name, text := range map[string]string{
		"without spaces":  strings.Repeat("東京は日本の首都である。", 3000),
		"words":           strings.Repeat("во время выполнения\n", 3000),
		"trailing spaces": strings.Repeat("слово "+strings.Repeat(" ", 90)+"\n", 2000),
	} {
		s, err := Open(t.Context(), Options{Kind: "text", Path: write(t, "a.txt", text), Tokens: 100, Prompts: 50, ServerURL: tokenizeServer(t, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(50) {
			p, err := s.Prompt(t.Context(), i)
			if err != nil || words(p.Text) != 100 || strings.ContainsRune(p.Text, utf8.RuneError) {
				t.Errorf("%s: prompt %d: %d tokens, %v", name, i, words(p.Text), err)
			}
		}
	}
}

func TestWholeRunes(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "é": "é", "\xa9é": "é", "aé\xc3": "aé", "\xf0\x9f\x98": "", "\xff": "\xff"} {
		if got := wholeRunes(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestShortTextIsToldApart(t *testing.T) {
	c := cutter{counter: Approximate{}}
	for _, text := range []string{"", "a few words", "a few words  \n\n"} {
		if _, err := c.cut(t.Context(), "", "", text, 50); !errors.Is(err, errShort) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOrderIsAPermutation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 17, 64, 1000} {
		seen := map[int64]bool{}
		o := newOrder(n, 5, 1)
		for i := range n {
			seen[o.at(i)] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("%d of %d places", len(seen), n)
		}
	}
}
