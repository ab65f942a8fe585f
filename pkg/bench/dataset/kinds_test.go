package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestTableIsSortedAndDocumented(t *testing.T) {
	// The configuration's enum, but for "auto".
	want := []string{"burstgpt", "conversations", "custom", "gutenberg", "parquet", "prefix_repetition", "random", "shared_prefix", "sharegpt", "sonnet", "text", "trace"}
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
		if !strings.HasSuffix(k.Summary, ".") {
			t.Errorf("%s: summary %q", k.Name, k.Summary)
		}
		for _, o := range k.Options {
			if o.Doc == "" || o.Default == nil {
				t.Errorf("%s: option %s has no documentation or default", k.Name, o.Name)
			}
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("kinds %q, want %q", names, want)
	}
}

// check opens, verifies against the test server's counts, and returns the first prompts.
func check(t *testing.T, o Options, n int64) (Source, []Prompt) {
	t.Helper()
	o.ServerURL, o.Model, o.Prompts = tokenizeServer(t, 1), "m", n
	o.SpecialTokens = 1
	r, err := Verify(t.Context(), o)
	if err != nil || r.Wrong > 0 || r.Checked != n {
		t.Fatalf("verify: %+v, %v", r, err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	prompts, err := several(t.Context(), s, 0, int(n))
	if err != nil {
		t.Fatal(err)
	}
	return s, prompts
}

func TestRandomLengths(t *testing.T) {
	_, ps := check(t, Options{Kind: "random", Tokens: 100, OutputTokens: 50, Options: map[string]any{"range_ratio": 0.2}}, 60)
	low, high := 1000, 0
	for _, p := range ps {
		low, high = min(low, p.Tokens), max(high, p.Tokens)
		if p.Tokens < 80 || p.Tokens > 120 || p.OutputTokens < 40 || p.OutputTokens > 60 {
			t.Errorf("lengths %d, %d", p.Tokens, p.OutputTokens)
		}
	}
	if high-low < 20 {
		t.Errorf("lengths from %d to %d do not vary", low, high)
	}
}

func TestPrefixesAreShared(t *testing.T) {
	_, ps := check(t, Options{Kind: "prefix_repetition", Options: map[string]any{"num_prefixes": 4, "prefix_len": 40, "suffix_len": int64(20)}}, 40)
	groups := map[string]int{}
	for _, p := range ps {
		groups[p.Text[:60]]++
	}
	if len(groups) != 4 {
		t.Errorf("%d prefixes, want 4", len(groups))
	}
	for head, n := range groups {
		if n != 10 {
			t.Errorf("prefix %.20q is used %d times, want 10", head, n)
		}
	}
	_, ps = check(t, Options{Kind: "shared_prefix", Tokens: 201, Options: map[string]any{"hit_rate": 0.9, "prompts": 8}}, 16)
	if ps[0].Text != ps[8].Text || ps[0].Text == ps[1].Text || words(common(ps[0].Text, ps[1].Text)) < 176 {
		t.Errorf("prompts share %d tokens", words(common(ps[0].Text, ps[1].Text)))
	}
}

func common(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[:i]
}

func TestSonnet(t *testing.T) {
	var poem strings.Builder
	for i := range 60 {
		fmt.Fprintln(&poem, strings.ReplaceAll(prose(uint64(i), 40), "\n", " "))
	}
	_, ps := check(t, Options{Kind: "sonnet", Path: write(t, "sonnet.txt", poem.String()), Tokens: 200, Options: map[string]any{"prefix_len": 50}}, 20)
	if words(common(ps[0].Text, ps[1].Text)) < 50 {
		t.Error("no shared prefix")
	}
}

func TestTraces(t *testing.T) {
	mooncake := write(t, "m.jsonl", `{"timestamp": 0, "input_length": 100, "output_length": 5, "hash_ids": [1, 2, 3]}
{"timestamp": 1500, "input_length": 90, "output_length": 6, "hash_ids": [1, 2, 4]}
`)
	_, ps := check(t, Options{Kind: "trace", Path: mooncake, Options: map[string]any{"block_tokens": 32, "speed": 2.0}}, 4)
	if ps[0].Tokens != 100 || ps[1].OutputTokens != 6 || ps[1].OffsetNS != 750e6 || ps[2].OffsetNS <= ps[1].OffsetNS {
		t.Errorf("%+v", ps)
	}
	if n := words(common(ps[0].Text, ps[1].Text)); n < 58 || n > 66 {
		t.Errorf("prompts with two equal hash ids share %d tokens", n)
	}
	azure := write(t, "a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,50,10\n2023-11-16 18:17:04.0319600,20,3\n")
	_, ps = check(t, Options{Path: azure}, 2)
	if ps[0].Tokens != 50 || ps[1].OffsetNS != 52e6 {
		t.Errorf("%+v", ps)
	}
	burst := write(t, "burstgpt.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,9,9,18,x\n6,GPT-4,30,9,39,x\n7,GPT-4,30,0,30,x\n8.5,GPT-4,12,4,16,x\n")
	_, ps = check(t, Options{Path: burst, Options: map[string]any{"timestamps": true}}, 2)
	if ps[0].Tokens != 30 || ps[1].Tokens != 12 || ps[1].OffsetNS != 2.5e9 {
		t.Errorf("%+v", ps)
	}
	for content, want := range map[string]string{
		"{\"timestamp\":1}\n":                                                 "row 1 at byte 0",
		"TIMESTAMP,ContextTokens\n1,2\n":                                      "no column \"GeneratedTokens\"",
		"TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,1\n":            "line 2",
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,-4,1\n": "line 2",
		"{\"input_length\":1,\"output_length\":1}\n{\"input_le":               "row 2 at byte 37",
	} {
		if _, err := Open(t.Context(), Options{Kind: "trace", Path: write(t, "t", content)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", content, err, want)
		}
	}
}

func TestParquetAndGutenbergShards(t *testing.T) {
	type row struct {
		ID   string `parquet:"id"`
		Text string `parquet:"text,optional"`
	}
	dir := filepath.Join(t.TempDir(), "gutenberg", "data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for k, name := range []string{"en-00000-of-00002-a.parquet", "en-00001-of-00002-b.parquet", "de-00000-of-00001-c.parquet"} {
		var rows []row
		for i := range 20 {
			rows = append(rows, row{fmt.Sprint(i), "licence\n*** START OF THE PROJECT GUTENBERG EBOOK ***\n" + prose(uint64(100*k+i), 9000) + "\n*** END OF THE PROJECT"})
		}
		if err := parquet.WriteFile(filepath.Join(dir, name), rows); err != nil {
			t.Fatal(err)
		}
	}
	s, ps := check(t, Options{Path: filepath.Dir(dir), Tokens: 150, Language: "en"}, 60)
	if s.Info().Kind != "gutenberg" || strings.Contains(ps[0].Text, "licence") {
		t.Errorf("%+v", s.Info())
	}
	check(t, Options{Path: filepath.Join(dir, "de-00000-of-00001-c.parquet"), Tokens: 150, Column: "text"}, 20)
	_, err := Open(t.Context(), Options{Path: dir, Tokens: 10, Kind: "parquet", Column: "body"})
	if err == nil || !strings.Contains(err.Error(), `no column "body"`) {
		t.Errorf("error %v", err)
	}
	damaged := filepath.Join(dir, "de-00000-of-00001-c.parquet")
	b, _ := os.ReadFile(damaged)
	if err := os.WriteFile(damaged, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: damaged, Tokens: 10}); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("error %v", err)
	}
}

func TestBuildIsReadBackAndChecked(t *testing.T) {
	o := Options{Kind: "random", Tokens: 60, Prompts: 300, ServerURL: tokenizeServer(t, 0), Model: "m", OutputTokens: 7}
	out := filepath.Join(t.TempDir(), "prompts.jsonl")
	m, _, err := Build(t.Context(), o, out)
	if err != nil || m.Prompts != 300 {
		t.Fatal(m, err)
	}
	built, _ := Open(t.Context(), o)
	s, err := Open(t.Context(), Options{Path: out, Prompts: 300})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int64{0, 17, 299} {
		a, _ := built.Prompt(t.Context(), i)
		if b, err := s.Prompt(t.Context(), i); err != nil || a.Text != b.Text || a.Tokens != b.Tokens || b.OutputTokens != 7 {
			t.Errorf("prompt %d: %+v, built %+v, %v", i, b, a, err)
		}
	}
	if !s.Info().Exact {
		t.Errorf("info %+v", s.Info())
	}
	if _, err := Open(t.Context(), Options{Path: out, Counter: letters{}}); err == nil || !strings.Contains(err.Error(), "built for another tokenizer") {
		t.Errorf("error %v", err)
	}
	// A server is asked: the one that counts alike will do, whatever its model is called.
	if _, err := Open(t.Context(), Options{Path: out, ServerURL: o.ServerURL, Model: "another"}); err != nil {
		t.Error(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"count": 61}`) }))
	defer other.Close()
	if _, err := Open(t.Context(), Options{Path: out, ServerURL: other.URL, Model: "m"}); err == nil || !strings.Contains(err.Error(), "row 1 has 60 tokens") || !strings.Contains(err.Error(), "the server counts 61") {
		t.Errorf("error %v", err)
	}
	f, _ := os.OpenFile(out, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString("{\"prompt\":\"x\"}\n")
	f.Close()
	if _, err := Open(t.Context(), Options{Path: out}); err == nil || !strings.Contains(err.Error(), "build it again") {
		t.Errorf("error %v", err)
	}
}

// letters is an exact counter of another kind.
type letters struct{}

func (letters) Count(_ context.Context, text string) (int, error) { return len(text), nil }
func (letters) Rule() Rule                                        { return Rule{Text: "letters", Hash: "letters", Exact: true} }

func TestCustomRows(t *testing.T) {
	path := write(t, "c.jsonl", `{"prompt": "one two three", "output_tokens": 9}`+"\n\n"+`{"prompt": "four"}`+"\n")
	_, ps := check(t, Options{Path: path, OutputTokens: 3}, 3)
	if ps[0].OutputTokens != 9 || ps[1].OutputTokens != 3 || ps[2].Text != ps[0].Text || ps[0].Tokens != 5 {
		t.Errorf("%+v", ps)
	}
	for content, want := range map[string]string{
		`{"prompt": "a"}` + "\n{\"pro":      "row 2 at byte 16",
		`{"text": "a"}`:                     "row 1: no prompt",
		"\n":                                "no prompts",
		`{"prompt": ["a"]}`:                 "row 1 at byte 0",
		`{"prompt":"a","output_tokens":-1}`: "negative",
	} {
		if _, err := Open(t.Context(), Options{Path: write(t, "c.jsonl", content)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", content, err, want)
		}
	}
}

func TestCacheIsShared(t *testing.T) {
	o := Options{Kind: "random", Tokens: 50, Prompts: 200, CacheDir: t.TempDir()}
	plain := o
	plain.CacheDir = ""
	want, _ := Open(t.Context(), plain)
	var wg sync.WaitGroup
	for range 4 {
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			wg.Go(func() {
				for i := range int64(200) {
					p, err := s.Prompt(t.Context(), i)
					if q, _ := want.Prompt(t.Context(), i); err != nil || p.Text != q.Text || p.OffsetNS != -1 {
						t.Errorf("prompt %d: %v", i, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	chunks, _ := filepath.Glob(filepath.Join(o.CacheDir, "prompts-*", "*.jsonl"))
	if len(chunks) != 4 {
		t.Errorf("chunks %q, want 4", chunks)
	}
	if err := os.WriteFile(chunks[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := Open(t.Context(), o)
	if _, err := s.Prompt(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("error %v", err)
	}
}

func TestProbe(t *testing.T) {
	url := tokenizeServer(t, 2)
	if n, err := ProbeSpecialTokens(t.Context(), ProbeOptions{ServerURL: url, Model: "m"}); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	_, err := ProbeSpecialTokens(t.Context(), ProbeOptions{ServerURL: url, Model: "m", Local: Approximate{}})
	if err == nil || !strings.Contains(err.Error(), "not the local one") {
		t.Errorf("error %v", err)
	}
}

func FuzzShareGPT(f *testing.F) {
	f.Add([]byte(`[{"conversations":[{"from":"human","value":"hello there, how are you"},{"value":"I am well, thank you"}]}]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), Options{Kind: "sharegpt", Path: path, Tokens: 4})
		if err != nil {
			return
		}
		if p, err := s.Prompt(t.Context(), 0); err == nil && p.Text == "" {
			t.Error("an empty prompt")
		}
		if _, err := json.Marshal(s.Info()); err != nil {
			t.Error(err)
		}
	})
}

// Conversations are sent as vLLM's sampling does: first turns as they are, answers as long as
// the second turn, nothing outside the bounds.
func TestConversationsKeepTheirLengths(t *testing.T) {
	talks := `[
  {"id": "a", "conversations": [{"from": "human", "value": "one two six ten"}, {"from": "gpt", "value": "a b c d e f g"}]},
  {"id": "short", "conversations": [{"from": "human", "value": "a b c"}, {"from": "gpt", "value": "a b c d e"}]},
  {"id": "alone", "conversations": [{"from": "human", "value": "one two six ten"}]},
  {"id": "long", "conversations": [{"from": "human", "value": "` + strings.Repeat("a ", 1100) + `"}, {"from": "gpt", "value": "a b c d e"}]},
  {"id": "mute", "conversations": [{"from": "human", "value": "a b c d e f"}, {"from": "gpt", "value": "a"}]},
  {"id": "b", "conversations": [{"from": "human", "value": "a b c d e f"}, {"from": "gpt", "value": "a b c d"}, {"from": "human", "value": "more"}]}
]`
	path := write(t, "share.json", talks)
	lengths := func(o Options, n int64) (out [][2]int) {
		t.Helper()
		o.Kind, o.Path, o.ServerURL, o.Model = "conversations", path, tokenizeServer(t, 0), "m"
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := several(t.Context(), s, 0, int(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			out = append(out, [2]int{p.Tokens, p.OutputTokens})
		}
		return out
	}
	inOrder := map[string]any{"shuffle": false}
	for _, c := range []struct {
		name string
		o    Options
		want [][2]int
	}{
		{"their own", Options{Options: inOrder}, [][2]int{{4, 7}, {6, 4}, {4, 7}}},
		{"special tokens count, as in vLLM", Options{Options: inOrder, SpecialTokens: 1}, [][2]int{{5, 8}, {4, 6}, {7, 5}}},
		{"answers of a fixed length", Options{Options: inOrder, OutputTokens: 9}, [][2]int{{4, 9}, {6, 9}, {6, 9}}},
		{"bounds of one's own", Options{Options: map[string]any{"shuffle": false, "min_tokens": 1}}, [][2]int{{4, 7}, {3, 5}, {6, 1}}},
	} {
		if got := lengths(c.o, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if a, b := lengths(Options{Seed: 1}, 2), lengths(Options{Seed: 1}, 2); !slices.Equal(a, b) {
		t.Errorf("the same seed gives %v and %v", a, b)
	}
	short := write(t, "short.json", `[{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]`)
	if _, err := Open(t.Context(), Options{Kind: "conversations", Path: short}); err == nil || !strings.Contains(err.Error(), "within the bounds") {
		t.Errorf("error %v", err)
	}
}

func TestRandomSharesItsPrefix(t *testing.T) {
	_, ps := check(t, Options{Kind: "random", Tokens: 60, OutputTokens: 50, Options: map[string]any{"prefix_len": 40, "output_range_ratio": 0.4}}, 20)
	outputs := map[int]bool{}
	for _, p := range ps {
		if p.Tokens != 100 || p.Text[:100] != ps[0].Text[:100] {
			t.Errorf("%d tokens, %.100q", p.Tokens, p.Text)
		}
		outputs[p.OutputTokens] = true
	}
	if len(outputs) < 5 || ps[0].Text == ps[1].Text {
		t.Errorf("answers of %v tokens", outputs)
	}
}

func TestTraceKeysMayBeNamed(t *testing.T) {
	path := write(t, "trace.jsonl", "{\"t\": 0, \"i\": 50, \"o\": 5, \"h\": [1, 2]}\n{\"t\": 2, \"i\": 60, \"o\": 7}\n")
	_, ps := check(t, Options{Kind: "trace", Path: path, Options: map[string]any{
		"timestamp_key": "t", "input_key": "i", "output_key": "o", "blocks_key": "h", "block_tokens": 16, "speed": 0.001,
	}}, 2)
	if ps[1].Tokens != 60 || ps[1].OutputTokens != 7 || ps[1].OffsetNS != 2e9 {
		t.Errorf("%+v", ps[1])
	}
}
