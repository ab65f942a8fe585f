package tokenizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tiny is a hand-made byte-level tokenizer: the 256 bytes, then a few merges.
func tiny(change func(map[string]any)) []byte {
	vocab, runes := map[string]int{}, make([]string, 256)
	for r, b := range byteLevelRunes() {
		vocab[string(r)], runes[b] = int(b), string(r)
	}
	var merges []string
	for _, m := range []string{"l l", "h e", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "Ġwor ld"} {
		a, b, _ := strings.Cut(m, " ")
		merges = append(merges, m)
		vocab[a+b] = 256 + len(merges)
	}
	vocab["ld"] = 256
	merges = append([]string{"l d"}, merges...)
	doc := map[string]any{
		"added_tokens": []any{
			map[string]any{"id": 300, "content": "<bos>", "special": true},
			map[string]any{"id": 301, "content": "<sp>", "lstrip": true, "rstrip": true, "normalized": true},
		},
		"normalizer": map[string]any{"type": "Sequence", "normalizers": []any{map[string]any{"type": "NFC"}}},
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "pattern": map[string]any{"Regex": `\p{N}{1,3}`}, "behavior": "Isolated"},
			map[string]any{"type": "Split", "pattern": map[string]any{"Regex": ` ?\p{L}+|\s+(?!\S)|\s+`}, "behavior": "Isolated"},
			map[string]any{"type": "ByteLevel", "use_regex": false},
		}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	}
	if change != nil {
		change(doc)
	}
	src, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return src
}

func TestTinyEncodes(t *testing.T) {
	tk, err := parse(tiny(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       []int32
	}{
		{"merges by rank", "hello world", []int32{260, 264}},
		{"leftmost pair first", "lll", []int32{257, 'l'}},
		{"digits in threes", "1234", []int32{'1', '2', '3', '4'}},
		{"an added token takes the spaces it strips", "hello <sp> hello", []int32{260, 301, 260}},
		{"a special token", "<bos>hello", []int32{300, 260}},
		{"look-ahead sees the piece", "hello  world", []int32{260, ' ', 264}},
		{"NFC", "e\u0301", []int32{0xc3, 0xa9}},
		{"invalid UTF-8 is U+FFFD", "\xff", []int32{0xef, 0xbf, 0xbd}},
		{"nothing", "", nil},
	} {
		if got := tk.Encode(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %v, want %v", c.name, c.text, got, c.want)
		}
		if n := tk.Count(c.text); n != len(c.want) {
			t.Errorf("%s: count %d", c.name, n)
		}
	}
	if got := tk.Decode([]int32{300, 260, 264}); got != "<bos>hello world" {
		t.Errorf("decode: %q", got)
	}
	if end := tk.Reserved("hello <bos> x"); end != 11 {
		t.Errorf("reserved ends at %d", end)
	}
	if end := tk.Prefix("hello world hello", 2); end != 11 {
		t.Errorf("two tokens end at %d", end)
	}
}

// The scan and the queue must merge alike.
func TestScanAndQueueAgree(t *testing.T) {
	tk, err := parse(tiny(nil))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		text := strings.Repeat("hellollo wor", 1+n/10)[:n]
		a, b := &scratch{}, &scratch{}
		for i := range len(text) {
			a.symbols, b.symbols = append(a.symbols, tk.model.bytes[text[i]]), append(b.symbols, tk.model.bytes[text[i]])
		}
		tk.model.mergeScan(a)
		tk.model.mergeQueue(b)
		if !slices.Equal(a.out, b.out) {
			t.Errorf("%q: scan %v, queue %v", text, a.out, b.out)
		}
	}
}

func TestByteFallback(t *testing.T) {
	vocab := map[string]int{"<unk>": 0, "▁": 300, "a": 301, "▁a": 302}
	for b := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", b)] = b + 1
	}
	src, err := json.Marshal(map[string]any{
		"normalizer": map[string]any{"type": "Sequence", "normalizers": []any{
			map[string]any{"type": "Prepend", "prepend": "▁"},
			map[string]any{"type": "Replace", "pattern": map[string]any{"String": " "}, "content": "▁"},
		}},
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": [][]string{{"▁", "a"}}, "byte_fallback": true, "unk_token": "<unk>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tk, err := parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tk.Encode("a aé"), []int32{302, 302, 0xc3 + 1, 0xa9 + 1}; !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
	if got := tk.Decode(tk.Encode("a aé")); got != " a aé" {
		t.Errorf("decoded %q", got)
	}
}

func TestUnknownPartsAreRefusedByName(t *testing.T) {
	set := func(key string, value any) func(map[string]any) {
		return func(d map[string]any) { d[key] = value }
	}
	inModel := func(key string, value any) func(map[string]any) {
		return func(d map[string]any) { d["model"].(map[string]any)[key] = value }
	}
	for _, c := range []struct {
		name   string
		change func(map[string]any)
		want   string
	}{
		{"model", inModel("type", "Unigram"), `model "Unigram"`},
		{"normalizer", set("normalizer", map[string]any{"type": "Lowercase"}), `normalizer "Lowercase"`},
		{"replace", set("normalizer", map[string]any{"type": "Replace", "pattern": map[string]any{"Regex": "x"}}), "Replace with a regular expression"},
		{"pre-tokenizer", set("pre_tokenizer", map[string]any{"type": "Metaspace"}), `pre_tokenizer "Metaspace"`},
		{"behaviour", set("pre_tokenizer", map[string]any{"type": "Split", "behavior": "Contiguous", "pattern": map[string]any{"Regex": "x"}}), `behavior "Contiguous"`},
		{"no pattern", set("pre_tokenizer", map[string]any{"type": "Split", "behavior": "Isolated"}), "without a pattern"},
		{"bad pattern", set("pre_tokenizer", map[string]any{"type": "Split", "behavior": "Isolated", "pattern": map[string]any{"Regex": "("}}), `pattern "("`},
		{"post-processor", set("post_processor", map[string]any{"type": "BertProcessing"}), `post_processor "BertProcessing"`},
		{"dropout", inModel("dropout", 0.1), "dropout"},
		{"suffix", inModel("end_of_word_suffix", "</w>"), "end_of_word_suffix"},
		{"prefix", inModel("continuing_subword_prefix", "##"), "continuing_subword_prefix"},
		{"merges", inModel("merges", []string{"q q"}), `merge 0 ("q" "q")`},
		{"merges' form", inModel("merges", 3), "merges"},
		{"byte missing", inModel("vocab", map[string]int{"a": 1}), "without a token for byte"},
		{"id", set("added_tokens", []any{map[string]any{"id": -1, "content": "x"}}), "out of range"},
	} {
		if _, err := parse(tiny(c.change)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
	for _, path := range []string{t.TempDir(), "/nonexistent/tokenizer.json"} {
		if _, err := Load(path); err == nil {
			t.Errorf("%s: loaded", path)
		}
	}
}

func TestConfigTellsBOS(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"tokenizer.json":        string(tiny(nil)),
		"tokenizer_config.json": `{"add_bos_token": true, "bos_token": {"content": "<bos>"}, "chat_template": "{{ x }}"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tk, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f := tk.Facts(); f.BOS != 300 || f.Added != 1 || f.ChatTemplate != "{{ x }}" {
		t.Errorf("facts %+v", f)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(tiny(nil))
	f.Add([]byte(`{"model":{"type":"BPE","byte_fallback":true,"vocab":{"a":0},"merges":[]}}`))
	f.Fuzz(func(_ *testing.T, src []byte) {
		if tk, err := parse(src); err == nil {
			tk.Encode("hello world 123 é")
		}
	})
}
