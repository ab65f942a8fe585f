package dataset

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// echoes is text that makes starts move and meet: a few sentences over and over, long words,
// characters that no prompt may have, and what leads look like.
func echoes(seed uint64, size int) string {
	rng := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(8) {
		case 0:
			b.WriteString("the same words come again and again in this text, ")
		case 1:
			b.WriteString("\x00\x00 ")
		case 2:
			b.WriteString(strings.Repeat("ab", 3+rng.IntN(40)) + " ")
		case 3:
			fmt.Fprintf(&b, "#%d: ", rng.IntN(50))
		case 4:
			b.WriteString(strings.Repeat("東京", 1+rng.IntN(9)))
		case 5:
			b.WriteString(strings.Repeat(" \n", rng.IntN(30)))
		default:
			b.WriteString(prose(rng.Uint64N(4), 40))
		}
	}
	return b.String()
}

// echoKinds are sources of such text: kinds whose prompts are cut from it.
func echoKinds(t *testing.T) map[string]Options {
	t.Helper()
	dir := t.TempDir()
	text := write(t, filepath.Join(dir, "echo.txt"), echoes(1, 60_000))
	type row struct {
		Text string `parquet:"text"`
	}
	var rows []row
	var trace, talks strings.Builder
	for i := range 150 {
		rows = append(rows, row{echoes(uint64(i), 700)})
		fmt.Fprintf(&trace, "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 5}\n", i*100, 16+i%200)
		fmt.Fprintf(&talks, "{\"conversations\": [{\"value\": %q}, {\"value\": \"a long enough answer to be taken\"}]}\n",
			strings.ReplaceAll(echoes(uint64(i), 700), "\x00", "\ufffd"))
	}
	shard := filepath.Join(dir, "shard.parquet")
	if err := parquet.WriteFile(shard, rows); err != nil {
		t.Fatal(err)
	}
	return map[string]Options{
		"parquet":       {Kind: "parquet", Path: shard},
		"sharegpt":      {Kind: "sharegpt", Path: write(t, filepath.Join(dir, "s.json"), talks.String())},
		"text":          {Kind: "text", Path: text},
		"trace":         {Kind: "trace", Path: write(t, filepath.Join(dir, "t.jsonl"), trace.String()), Options: map[string]any{"text": text}},
		"prefix, alone": {Kind: "prefix_repetition", Options: map[string]any{"prefix_len": 0, "suffix_len": 40, "text": text}},
	}
}

// echoCounters count in ways that differ in where starts can stay: by characters, by a
// server, and by a tokenizer file that makes most characters tokens of their own.
func echoCounters(t *testing.T) map[string]Options {
	t.Helper()
	counters := map[string]Options{"characters": {}, "server": {ServerURL: tokenizeServer(t, 1), SpecialTokens: 1}}
	counters["file"] = Options{TokenizerPath: write(t, filepath.Join(t.TempDir(), "tokenizer.json"), bytesTokenizer()), SpecialTokens: 1}
	return counters
}

// bytesTokenizer is a byte-level tokenizer.json with a token for each byte and some more.
func bytesTokenizer() string {
	var vocab, merges []string
	add := func(token string) { vocab = append(vocab, fmt.Sprintf("%q: %d", token, len(vocab))) }
	for b := range 256 {
		r := rune(b)
		switch { // GPT-2's table: bytes that are no printable characters come after U+0100
		case b < 33:
			r = rune(256 + b)
		case b > 126 && b < 161:
			r = rune(256 + 33 + b - 127)
		case b == 173:
			r = rune(256 + 67)
		}
		add(string(r))
	}
	for _, m := range []string{"t h", "th e", "a b", "ab ab", "\u0120 a", "\u0120 the"} {
		merges = append(merges, fmt.Sprintf("%q", m))
		add(strings.ReplaceAll(m, " ", ""))
	}
	return `{"model": {"type": "BPE", "vocab": {` + strings.Join(vocab, ", ") + `}, "merges": [` + strings.Join(merges, ", ") + `]},
		"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "decoder": {"type": "ByteLevel"}}`
}

// No two prompts share their first block, whatever the text, the length and the counter; and
// each has its length.
func TestBeginningsAreTheirOwn(t *testing.T) {
	counters := echoCounters(t)
	for kind, o := range echoKinds(t) {
		for by, c := range counters {
			o.TokenizerPath, o.ServerURL, o.SpecialTokens, o.Prompts = c.TokenizerPath, c.ServerURL, c.SpecialTokens, 150
			for _, o.Tokens = range []int{17, 24, 40, 70, 130, 300} {
				if kind == "trace" && o.Tokens != 40 {
					continue // it has lengths of its own
				}
				t.Run(fmt.Sprintf("%s/%s/%d", kind, by, o.Tokens), func(t *testing.T) { checkBeginnings(t, o) })
			}
		}
	}
}

func checkBeginnings(t *testing.T, o Options) {
	t.Helper()
	var err error
	if o.Counter, err = counterOf(o); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	n := int(o.Prompts)
	if d := s.Info().Distinct; d >= 0 && d < o.Prompts {
		n = int(d)
	}
	ps, err := several(t.Context(), s, 0, n)
	if err != nil {
		t.Fatal(err)
	}
	seen, moved := map[uint64]int{}, 0
	for i, p := range ps {
		k, err := o.Counter.Count(t.Context(), p.Text)
		if err != nil || k+o.SpecialTokens != p.Tokens {
			t.Errorf("prompt %d has %d tokens and says %d, %v", i, k, p.Tokens, err)
		}
		b, err := firstBlock(t.Context(), o.Counter, p.Text)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[b]; ok {
			t.Errorf("prompts %d and %d begin alike:\n%.120q\n%.120q", j, i, ps[j].Text, p.Text)
		}
		if seen[b] = i; isLead(p.Text) {
			moved++
		}
	}
	t.Logf("%d prompts, %d of them with a lead", len(ps), moved)
}

// Prompt i is the same whether or not it is known how many there will be, also far beyond the
// places that are looked at first.
func TestPlacesAreFoundOnDemand(t *testing.T) {
	o := Options{Kind: "text", Path: write(t, "a.txt", boilerplate(7, 3_000_000)), Tokens: 40}
	far := []int64{0, leastLooked - 1, leastLooked, leastLooked + 700, 6000}
	var got [][]string
	for _, o.Prompts = range []int64{0, 100, 6001} {
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, i := range far {
			p, err := s.Prompt(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, p.Text)
		}
		got = append(got, texts)
	}
	if !slices.Equal(got[0], got[1]) || !slices.Equal(got[0], got[2]) {
		t.Errorf("%.60q", got)
	}
}

// Places that lie in a long run of white space begin where it ends.
func TestWhiteSpaceBeforeBeginnings(t *testing.T) {
	gap := strings.Repeat(" \n", 3000)
	text := strings.Repeat("the same words, then others: "+gap, 20)
	for i := range 60 {
		text += "the same words that come after every gap, so that places in it begin alike; " + prose(uint64(i), 300) + gap
	}
	checkBeginnings(t, Options{Kind: "text", Path: write(t, "a.txt", text), Tokens: 40, Prompts: 150})
}

func TestLeads(t *testing.T) {
	o := &opening{}
	for text, want := range map[string]bool{"": false, "#": false, "#:": false, "#x: y": false, "#12 y": false, "#12: y": true, "12: ": false, o.lead(7, 99) + "a": true} {
		if isLead(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if o.lead(7, blockTokens-1) != "" {
		t.Error("a prompt shorter than a block has a lead")
	}
	o.Salt = true
	if o.lead(7, 99) != "" {
		t.Error("a salted prompt has a lead")
	}
}

// A text option with too little text is refused when the source is opened.
func TestFillerTooSmall(t *testing.T) {
	trace := write(t, "t.jsonl", `{"timestamp": 0, "input_length": 500, "output_length": 5}`+"\n")
	_, err := Open(t.Context(), Options{Kind: "trace", Path: trace, Options: map[string]any{"text": write(t, "a.txt", "a few words")}})
	if err == nil || !strings.Contains(err.Error(), "too little text") {
		t.Error(err)
	}
}
