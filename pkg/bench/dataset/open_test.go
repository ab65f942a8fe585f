package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCutKindsGiveExactDistinctPrompts(t *testing.T) {
	server := tokenizeServer(t, 1)
	books := filepath.Join(t.TempDir(), "gutenberg")
	head, tail := "The Project Gutenberg EBook\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n", "\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\nlicence licence"
	for i, name := range []string{"en/a.txt", "en/b.txt", "de/c.txt"} {
		write(t, filepath.Join(books, name), head+prose(uint64(90+i), 60_000)+tail)
	}
	for _, c := range []struct{ kind, path string }{
		{"text", write(t, "a.txt", prose(7, 200_000))},
		{"sharegpt", shareGPT(t, 300)},
		{"gutenberg", books},
	} {
		for _, url := range []string{"", server} {
			t.Run(c.kind+url, func(t *testing.T) {
				o := Options{Kind: c.kind, Path: c.path, Tokens: 128, Seed: 3, Prompts: 100, ServerURL: url, Model: "m", SpecialTokens: 1}
				if c.kind == "gutenberg" {
					o.Language = "en"
				}
				checkSource(t, o)
			})
		}
	}
}

func checkSource(t *testing.T, o Options) {
	t.Helper()
	a, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int64{}
	for i := o.Prompts - 1; i >= 0; i-- {
		p, err := a.Prompt(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		want := o.Tokens - o.SpecialTokens
		n, _ := Approximate{}.Count(t.Context(), p.Text)
		if o.ServerURL != "" {
			n = words(p.Text)
		}
		if n != want || p.Tokens != o.Tokens {
			t.Errorf("prompt %d has %d tokens and says %d, want %d", i, n, p.Tokens, want)
		}
		if q, _ := b.Prompt(t.Context(), i); q.Text != p.Text {
			t.Errorf("prompt %d differs between two openings", i)
		}
		if j, ok := seen[beginning(p.Text)]; ok {
			t.Errorf("prompts %d and %d begin alike: %.40q", i, j, p.Text)
		}
		seen[beginning(p.Text)] = i
		if strings.TrimSpace(p.Text) != p.Text || strings.Contains(p.Text, "licence") || strings.Contains(p.Text, "Gutenberg") {
			t.Errorf("prompt %d: %.60q … %q", i, p.Text, p.Text[len(p.Text)-20:])
		}
	}
	if info := a.Info(); info.Exact != (o.ServerURL != "") || len(info.Hash) != 64 || info.Distinct < o.Prompts {
		t.Errorf("info %+v", info)
	}
}

func TestBadSourcesAreRefused(t *testing.T) {
	whole, _ := os.ReadFile(shareGPT(t, 3))
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"no such type", Options{Kind: "poem"}, "not one of"},
		{"no such file", Options{Path: "/nonexistent/x.json"}, "no such file"},
		{"truncated", Options{Path: write(t, "t.json", string(whole[:len(whole)-700]))}, "truncated"},
		{"array not closed", Options{Path: write(t, "t.json", strings.TrimRight(string(whole), "]\n "))}, "truncated"},
		{"another schema", Options{Path: write(t, "t.json", `[{"text":"x"}]`)}, "entry 0 at byte 1 has no conversations"},
		{"wrong types", Options{Path: write(t, "t.json", `[{"conversations":[{"value":3}]}]`)}, "entry 0 at byte 1"},
		{"not JSON", Options{Path: write(t, "t.json", `hello`)}, "begins with 'h'"},
		{"empty", Options{Path: write(t, "t.json", ``)}, "empty"},
		{"only empty turns", Options{Path: write(t, "t.json", `[{"conversations":[{"value":""},{"value":""}]}]`)}, "too little text"},
		{"no text", Options{Path: write(t, "t.txt", ``)}, "too little text"},
		{"truncated Parquet", Options{Path: write(t, "t.parquet", `PAR1 something`)}, "not a complete Parquet file"},
		{"unknown option", Options{Path: write(t, "t.txt", prose(1, 9999)), Options: map[string]any{"colour": 1}}, "unknown option \"colour\""},
		{"language without a file", Options{Kind: "gutenberg", Path: filepath.Dir(write(t, "t.txt", prose(1, 9999))), Language: "fr"}, "language \"fr\""},
		{"token ids without a tokenizer", Options{Path: write(t, "t.txt", prose(1, 9999)), PromptFormat: FormatTokenIDs}, "tokenizer file"},
		{"format", Options{Path: write(t, "t.txt", prose(1, 9999)), PromptFormat: "xml"}, "prompt format"},
	} {
		c.o.Tokens = 64
		if _, err := Open(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestRepeatsAreWarnedOfAndSalted(t *testing.T) {
	o := Options{Path: shareGPT(t, 20), Tokens: 100, Prompts: 100, Salt: true, RunID: "r1"}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	info := s.Info()
	if len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "repeats") {
		t.Errorf("warnings %q", info.Warnings)
	}
	a, _ := s.Prompt(t.Context(), 0)
	b, err := s.Prompt(t.Context(), info.Distinct)
	if err != nil || beginning(a.Text) == beginning(b.Text) {
		t.Errorf("salted prompts begin alike: %.30q %.30q, %v", a.Text, b.Text, err)
	}
	if n, _ := (Approximate{}).Count(t.Context(), b.Text); n != 100 {
		t.Errorf("salted prompt has %d tokens", n)
	}
}
