package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// boilerplate is prose in which a sentence comes again every few lines, as licences and
// headings do.
func boilerplate(seed uint64, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(prose(seed*1000+uint64(i), 60+i%90))
		b.WriteString("\n\nPermission is hereby granted, free of charge, to any person obtaining a copy of this text to deal in it without restriction.\n\n")
	}
	return b.String()
}

// everyKind has options for each row of the table.
func everyKind(t *testing.T) map[string]Options {
	t.Helper()
	dir := t.TempDir()
	text := write(t, filepath.Join(dir, "text.txt"), boilerplate(1, 300_000))
	write(t, filepath.Join(dir, "gutenberg", "en", "a.txt"), boilerplate(2, 200_000))
	type row struct {
		Text string `parquet:"text"`
	}
	var rows []row
	var custom, trace, burst strings.Builder
	burst.WriteString("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	for i := range 80 {
		rows = append(rows, row{boilerplate(uint64(100+i), 9000)})
		fmt.Fprintf(&custom, "{\"prompt\": %q, \"output_tokens\": 5}\n", prose(uint64(i), 300))
		fmt.Fprintf(&trace, "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 5}\n", i*100, 100+i)
		fmt.Fprintf(&burst, "%d,GPT-4,%d,9,39,x\n", i, 100+i)
	}
	shard := filepath.Join(dir, "shard.parquet")
	if err := parquet.WriteFile(shard, rows); err != nil {
		t.Fatal(err)
	}
	share := shareGPT(t, 300)
	return map[string]Options{
		"burstgpt":          {Path: write(t, filepath.Join(dir, "burst.csv"), burst.String())},
		"conversations":     {Path: share},
		"custom":            {Path: write(t, filepath.Join(dir, "c.jsonl"), custom.String())},
		"gutenberg":         {Path: filepath.Join(dir, "gutenberg"), Language: "en"},
		"parquet":           {Path: shard},
		"prefix_repetition": {Options: map[string]any{"prefix_len": 40, "suffix_len": 60}},
		"random":            {},
		"shared_prefix":     {Options: map[string]any{"text": text}},
		"sharegpt":          {Path: share},
		"sonnet":            {Path: text, Options: map[string]any{"prefix_len": 20}},
		"text":              {Path: text},
		"trace":             {Path: write(t, filepath.Join(dir, "t.jsonl"), trace.String()), Options: map[string]any{"text": text}},
	}
}

func eachKind(t *testing.T, do func(t *testing.T, o Options)) {
	t.Helper()
	every := everyKind(t)
	for _, k := range Kinds() {
		o, ok := every[k.Name]
		if !ok {
			t.Errorf("no example of kind %s; add one to everyKind", k.Name)
			continue
		}
		o.Kind, o.Tokens, o.Seed, o.Prompts = k.Name, 120, 5, 60
		t.Run(k.Name, func(t *testing.T) { do(t, o) })
	}
}

func texts(t *testing.T, o Options, n int64) []string {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range n {
		p, err := s.Prompt(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s|%d|%d|%d", p.Text, p.Tokens, p.OutputTokens, p.OffsetNS))
	}
	return out
}

// n clients, each with a source, a cache and workers of its own, send the same set as one.
func TestShardsAreTheWholeSet(t *testing.T) {
	eachKind(t, func(t *testing.T, o Options) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		whole := texts(t, o, o.Prompts)
		runtime.GOMAXPROCS(4)
		for _, shards := range []int{2, 5} {
			got := make([]string, len(whole))
			var wg sync.WaitGroup
			for shard := range shards {
				o := o
				if shard%2 == 1 {
					o.CacheDir = t.TempDir()
				}
				s, err := Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				for i := shard; i < len(got); i += shards {
					wg.Go(func() {
						p, err := s.Prompt(t.Context(), int64(i))
						if err != nil {
							t.Error(err)
						}
						got[i] = fmt.Sprintf("%s|%d|%d|%d", p.Text, p.Tokens, p.OutputTokens, p.OffsetNS)
					})
				}
			}
			wg.Wait()
			if !slices.Equal(got, whole) {
				t.Errorf("%d shards give another set than one", shards)
			}
		}
	})
}

// A prompt depends on the seed, and not on how many prompts there are to be.
func TestSeedChooses(t *testing.T) {
	eachKind(t, func(t *testing.T, o Options) {
		whole := texts(t, o, 20)
		more := o
		more.Prompts = 70
		if !slices.Equal(texts(t, more, 20), whole) {
			t.Error("prompts differ when more are wanted")
		}
		other := o
		other.Seed = 6
		if same := slices.Equal(texts(t, other, 20), whole); same != (o.Kind == "custom") {
			t.Errorf("same prompts with another seed: %v", same)
		}
	})
}

// No two prompts share their first block, but for datasets that say so.
func TestBeginningsAreShared(t *testing.T) {
	shared := []string{"prefix_repetition", "shared_prefix", "sonnet"}
	eachKind(t, func(t *testing.T, o Options) {
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := several(t.Context(), s, 0, int(o.Prompts))
		if err != nil {
			t.Fatal(err)
		}
		n, err := SameBeginning(t.Context(), o.Counter, ps)
		says := s.Info().SharesBeginnings
		if err != nil || says != slices.Contains(shared, o.Kind) || n > 0 != says {
			t.Errorf("%d of %d begin like an earlier one; says so: %v; %v", n, len(ps), says, err)
		}
		salted := o
		salted.Salt, salted.RunID = true, "run/first/1"
		if s, err = Open(t.Context(), salted); err != nil {
			t.Fatal(err)
		}
		if ps, err = several(t.Context(), s, 0, int(o.Prompts)); err != nil {
			t.Fatal(err)
		}
		if n, err := SameBeginning(t.Context(), o.Counter, ps); n > 0 || err != nil || s.Info().Salt != salted.RunID {
			t.Errorf("salted: %d begin like an earlier one, %v, %+v", n, err, s.Info())
		}
	})
}

// A salt is one run's: another run sends prompts that begin differently.
func TestSaltIsTheRuns(t *testing.T) {
	o := Options{Kind: "text", Path: write(t, "a.txt", prose(3, 99_000)), Tokens: 64, Prompts: 20, Salt: true, RunID: "a"}
	first, again := texts(t, o, 20), texts(t, o, 20)
	o.RunID = "b"
	if second := texts(t, o, 20); !slices.Equal(first, again) || first[3][:16] == second[3][:16] {
		t.Errorf("%.40q %.40q %.40q", first[3], again[3], second[3])
	}
}

// The second opening takes the index from the cache, unless it is damaged; a file that has
// changed has another.
func TestIndexIsKept(t *testing.T) {
	o := Options{Path: shareGPT(t, 50), Tokens: 100, Prompts: 20, CacheDir: t.TempDir()}
	plain := o
	plain.CacheDir = ""
	want := texts(t, plain, 20)
	for i := range 3 {
		if !slices.Equal(texts(t, o, 20), want) {
			t.Errorf("opening %d gives other prompts", i)
		}
		files, _ := filepath.Glob(filepath.Join(o.CacheDir, "index-*"))
		if len(files) != 1 {
			t.Fatalf("index files %q", files)
		}
		if i == 1 {
			write(t, files[0], `{"sum":"`)
		}
	}
	src, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, o.Path, strings.ReplaceAll(string(src), "and ", "end "))
	if slices.Equal(texts(t, o, 20), want) {
		t.Error("a changed file gives the prompts of the old one")
	}
}

func TestRepeatedRowsAreCounted(t *testing.T) {
	row := `{"prompt": "the same text in every row of this file, again and again"}` + "\n"
	s, err := Open(t.Context(), Options{Path: write(t, "c.jsonl", strings.Repeat(row, 5)), Prompts: 5})
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Info().Warnings; len(w) != 1 || !strings.Contains(w[0], "4 of 5 rows begin like an earlier one") {
		t.Errorf("warnings %q", w)
	}
}
