package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// age makes a part of the cache look as if it was last used so long ago.
func age(t *testing.T, path string, d time.Duration) {
	t.Helper()
	at := time.Now().Add(-d)
	for _, p := range append(glob(t, path+"/*"), path) {
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPrune(t *testing.T) {
	const kb = 1000
	for name, c := range map[string]struct {
		most int64
		left int64
		gone []string
	}{
		"all fits":                {most: 100 * kb, left: 50 * kb},
		"the oldest goes":         {most: 49 * kb, left: 40 * kb, gone: []string{"prompts-old"}},
		"then the index":          {most: 39 * kb, left: 30 * kb, gone: []string{"prompts-old", "index-1"}},
		"what is in use stays":    {most: 0, left: 20 * kb, gone: []string{"prompts-old", "index-1", ".index-7"}},
		"no more than needed":     {most: 35 * kb, left: 30 * kb, gone: []string{"prompts-old", "index-1"}},
		"the last of the old one": {most: 25 * kb, left: 20 * kb, gone: []string{"prompts-old", "index-1", ".index-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for part, used := range map[string]time.Duration{
				"prompts-own/0.jsonl": 99 * time.Hour, "prompts-old/0.jsonl": 9 * time.Hour, "index-1": 8 * time.Hour,
				".index-7": 7 * time.Hour, "prompts-busy/0.jsonl": time.Minute, "notes.txt": 99 * time.Hour,
			} {
				write(t, filepath.Join(dir, part), strings.Repeat("x", 10*kb))
				age(t, filepath.Join(dir, strings.Split(part, "/")[0]), used)
			}
			left, err := prune(dir, filepath.Join(dir, "prompts-own"), c.most, time.Now())
			if err != nil || left != c.left {
				t.Errorf("%d bytes left, want %d; %v", left, c.left, err)
			}
			for _, part := range []string{"prompts-own", "prompts-old", "index-1", ".index-7", "prompts-busy", "notes.txt"} {
				_, err := os.Stat(filepath.Join(dir, part))
				if os.IsNotExist(err) != slices.Contains(c.gone, part) {
					t.Errorf("%s: %v", part, err)
				}
			}
		})
	}
}

// A cache stays within its size over many sources, each of which has its prompts all the same.
func TestCacheIsBounded(t *testing.T) {
	o := Options{Kind: "random", Tokens: 200, CacheDir: t.TempDir(), CacheMax: 300_000}
	sets := func() []string { return glob(t, filepath.Join(o.CacheDir, "prompts-*")) }
	for o.Seed = range int64(6) { // about 100 kB each
		texts(t, o, 2*chunkSize)
		for _, s := range sets() {
			age(t, s, time.Duration(60-o.Seed)*time.Minute)
		}
	}
	size, err := prune(o.CacheDir, "", 1<<40, time.Now())
	if err != nil || size > o.CacheMax || len(sets()) < 2 {
		t.Errorf("%d bytes in %d sets, %v", size, len(sets()), err)
	}
}

// What does not fit is cut and not kept, and that is said.
func TestCacheIsFull(t *testing.T) {
	o := Options{Kind: "random", Tokens: 200, CacheDir: t.TempDir(), CacheMax: 150_000}
	plain := o
	plain.CacheDir = ""
	want := texts(t, plain, 4*chunkSize)
	for round, read := range []int64{0, 2 * chunkSize} {
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(4 * chunkSize) {
			p, err := s.Prompt(t.Context(), i)
			if err != nil || !strings.HasPrefix(want[i], p.Text+"|") {
				t.Fatalf("prompt %d: %v", i, err)
			}
		}
		use := CacheUseOf(s)
		if use.Read != read || use.Read+use.Made != 4*chunkSize || use.Lost != 2*chunkSize {
			t.Errorf("round %d: %+v", round, use)
		}
	}
}

// A set may go while its source is open: its prompts are cut and kept again.
func TestCacheTakenAway(t *testing.T) {
	o := Options{Kind: "random", Tokens: 50, CacheDir: t.TempDir()}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for i := range int64(chunksIn + 4) {
			if _, err := s.Prompt(t.Context(), i*chunkSize); err != nil {
				t.Fatal(err)
			}
		}
		if files := glob(t, filepath.Join(o.CacheDir, "prompts-*", "*.jsonl")); len(files) < 4 {
			t.Errorf("round %d: %d files", round, len(files))
		}
		if err := os.RemoveAll(CacheUseOf(s).Dir); err != nil {
			t.Fatal(err)
		}
	}
	if use := fmt.Sprint(CacheUseOf(s).Read); use != "0" {
		t.Errorf("%s prompts read", use)
	}
}
