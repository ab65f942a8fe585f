package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// Wherever a ShareGPT file ends early, it is an error that says where; never fewer prompts.
func TestEveryTruncationIsFound(t *testing.T) {
	whole, err := os.ReadFile(shareGPT(t, 4))
	if err != nil {
		t.Fatal(err)
	}
	step := 7
	if testing.Short() {
		step = 61
	}
	path := filepath.Join(t.TempDir(), "t.json")
	for n := 2; n < len(whole); n += step {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := indexTalks(t.Context(), path, Approximate{})
		if err == nil || !strings.Contains(err.Error(), "entry ") {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestDamagedArrays(t *testing.T) {
	entry := `{"conversations":[{"value":"` + strings.Repeat("words and more words ", 9) + `"},{"value":"` + strings.Repeat("an answer of words ", 9) + `"}]}`
	for _, c := range []struct{ name, file, want string }{
		{"a comma is missing", "[" + entry + " " + entry + "]", `byte 407: '{' between two entries`},
		{"more after the end", "[" + entry + "] [", "after the array's end"},
		{"a comma too many", "[" + entry + ",]", "entry 1 at byte"},
		{"a number", "[" + entry + ", 17]", "entry 1 at byte 408: json: cannot unmarshal number"},
		{"a control character", "[" + strings.Replace(entry, "words", "wo\x01rds", 1) + "]", "entry 0 at byte 1: invalid character"},
		{"turns are no list", `[{"conversations":{"value":"x"}}]`, "entry 0 at byte 1: json: cannot unmarshal object"},
		{"null", "[null]", "entry 0 at byte 1 has no conversations"},
		{"white space only", "  \n ", "empty"},
	} {
		_, err := indexTalks(t.Context(), write(t, "t.json", c.file), Approximate{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSplitterTakesWhatJSONHas(t *testing.T) {
	file := "\xef\xbb\xbf [ {\"a\":\"]}\\\\\\\"\"} ,\n[1,[2]],\"x,\\\"]\", 17 ,null]\n"
	for _, size := range []int{1, 2, 3, 7, 4096} {
		s, err := newSplitter(bufio.NewReaderSize(iotestReader{strings.NewReader(file), size}, 16))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			raw, off, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || file[off:int(off)+len(raw)] != string(raw) {
				t.Fatalf("%q at %d: %v", raw, off, err)
			}
			got = append(got, string(raw))
		}
		if want := `{"a":"]}\\\""}~[1,[2]]~"x,\"]"~17~null`; strings.Join(got, "~") != want {
			t.Errorf("%d bytes at a time: %q", size, got)
		}
	}
}

// iotestReader reads a few bytes at a time.
type iotestReader struct {
	r    io.Reader
	size int
}

func (r iotestReader) Read(b []byte) (int, error) { return r.r.Read(b[:min(len(b), r.size)]) }

// What is not UTF-8 reaches no prompt, in any format.
func TestInvalidUTF8(t *testing.T) {
	bad := strings.ReplaceAll(prose(4, 60_000), "and", "a\xffnd \xf0\x9f\x98 \xed\xa0\x80")
	type row struct {
		Text []byte `parquet:"text"`
	}
	shard := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(shard, []row{{[]byte(bad)}}); err != nil {
		t.Fatal(err)
	}
	share := `[{"conversations":[{"value":"` + strings.NewReplacer("\n", `\n`).Replace(bad) + `"},{"value":"twenty characters and more"}]}]`
	for kind, path := range map[string]string{
		"text": write(t, "a.txt", bad), "parquet": shard, "sharegpt": write(t, "s.json", share),
	} {
		s, err := Open(t.Context(), Options{Kind: kind, Path: path, Tokens: 100, Prompts: 5})
		if err != nil {
			t.Fatal(kind, err)
		}
		if w := fmt.Sprint(s.Info().Warnings); !strings.Contains(w, path) && !strings.Contains(w, "entry 0 at byte 1") {
			t.Errorf("%s: warnings %s", kind, w)
		}
		for i := range int64(5) {
			p, err := s.Prompt(t.Context(), i)
			if err != nil || !utf8.ValidString(p.Text) || strings.ContainsRune(p.Text, utf8.RuneError) {
				t.Errorf("%s: %v %q", kind, err, p.Text)
			}
		}
	}
}

func TestDamagedParquet(t *testing.T) {
	type row struct {
		Text  string `parquet:"text"`
		Count int64  `parquet:"count"`
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	rows := make([]row, 200)
	for i := range rows {
		rows[i] = row{prose(uint64(i), 2000), int64(i)}
	}
	if err := parquet.WriteFile(path, rows, parquet.Compression(&parquet.Snappy)); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	open := func() error {
		s, err := Open(t.Context(), Options{Path: path, Tokens: 64, Prompts: 20})
		if err == nil {
			warnings = s.Info().Warnings
			_, err = several(t.Context(), s, 0, 20)
		}
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path, Tokens: 64, Column: "count"}); err == nil || !strings.Contains(err.Error(), `column "count" holds INT(64,true), not text`) {
		t.Errorf("error %v", err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 3, 100, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	// A page's bytes are overwritten; the footer is whole. Without checksums text that still
	// unpacks shows only by what is not UTF-8.
	for _, at := range []int{20, 9000, 90_000} {
		damaged := append([]byte(nil), whole...)
		copy(damaged[at:], strings.Repeat("\xff", 64))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		told := fmt.Sprint(open(), warnings)
		if !strings.Contains(told, path) || !strings.Contains(told, "row group 0") {
			t.Errorf("page damaged at %d: %s", at, told)
		}
	}
}

// A book of 24 MB is one value and one page.
func TestGiantPages(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large files")
	}
	type row struct {
		Text string `parquet:"text"`
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := parquet.WriteFile(path, []row{{prose(1, 24<<20)}, {prose(2, 24<<20)}}, parquet.PageBufferSize(64<<20)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: path, Tokens: 1000, Prompts: 200})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := several(t.Context(), s, 0, 200); err != nil {
		t.Error(err)
	}
}

// The memory for indexing a file does not grow with the file, so that 10 GB are only a matter
// of time; an entry without an end is given up early.
func TestLargeFilesTakeLittleMemory(t *testing.T) {
	size := 192 << 20
	if testing.Short() {
		size = 24 << 20
	}
	path := filepath.Join(t.TempDir(), "large.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	text := strings.ReplaceAll(prose(9, 8000), "\n", `\n`)
	n := 0
	for written := 0; written < size; n++ {
		k, _ := fmt.Fprintf(w, "%s{\"id\":\"%d\",\"conversations\":[{\"from\":\"human\",\"value\":\"Number %d: %s\"},{\"from\":\"gpt\",\"value\":\"%s\"}]}", map[bool]string{true: "[", false: ",\n"}[n == 0], n, n, text, text)
		written += k
	}
	w.WriteString("]")
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	runtime.GC() // what other tests left behind must not raise the collector's goal
	before, stop := heap(), watchHeap(t.Context())
	index, err := indexTalks(t.Context(), path, Approximate{})
	most := stop()
	if err != nil || len(index.entries) != n {
		t.Fatalf("%d of %d entries, %v", len(index.entries), n, err)
	}
	if grown := int64(most) - int64(before); grown > 96<<20 {
		t.Errorf("indexing %d MiB took %d MiB of memory", size>>20, grown>>20)
	}
	if testing.Short() {
		return
	}
	endless := filepath.Join(t.TempDir(), "endless.json")
	if err := os.WriteFile(endless, []byte(`[{"conversations":[{"value":"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(endless, 10<<30); err != nil { // sparse: 10 GiB of NUL bytes
		t.Skip(err)
	}
	start := time.Now()
	if _, err = indexTalks(t.Context(), endless, Approximate{}); err == nil || !strings.Contains(err.Error(), "entry 0 at byte 1: more than 64 MiB before its end") {
		t.Errorf("error %v", err)
	}
	t.Logf("given up after %s", time.Since(start))
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// watchHeap samples the heap until the returned function is called, which gives the most.
func watchHeap(ctx context.Context) func() uint64 {
	ctx, cancel := context.WithCancel(ctx)
	var most uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			most = max(most, heap())
			<-tick.C
		}
	})
	return func() uint64 {
		cancel()
		wg.Wait()
		return most
	}
}

func TestMissingTokenizerFiles(t *testing.T) {
	text := write(t, "a.txt", prose(1, 9999))
	empty := t.TempDir()
	for path, want := range map[string]string{
		"/nonexistent/model": "/nonexistent/model: no such file",
		empty:                "tokenizer.json: no such file",
		write(t, "tokenizer.json", `{"model": {"type": "Unigram"}}`): `model "Unigram" is not supported`,
		write(t, "tokenizer.json", `{"model": `):                     "unexpected end of JSON input",
		text:                                                         "invalid character",
	} {
		_, err := Open(t.Context(), Options{Path: text, Tokens: 20, TokenizerPath: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}
