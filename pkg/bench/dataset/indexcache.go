package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// savedIndex is a talkIndex in the cache: reading 640 MB for its hash takes a second, decoding
// them ten.
type savedIndex struct {
	Sum     string     `json:"sum"`
	Faulty  int64      `json:"faulty"`
	First   string     `json:"first"`
	Entries [][3]int64 `json:"entries"` // offset, size, bytes of text
	Begins  []uint64   `json:"begins"`
}

// talkIndexOf is indexTalks with the cache's help.
func talkIndexOf(ctx context.Context, o *opening) (talkIndex, error) {
	if o.CacheDir == "" {
		return indexTalks(ctx, o.Path, o.Counter)
	}
	sum, err := plainHash(ctx, o.Path)
	if err != nil {
		return talkIndex{}, err
	}
	path := filepath.Join(o.CacheDir, fmt.Sprintf("index-%d-%.24s-%.24s.json", cutVersion, sum, blockKey(o.Counter)))
	if x, ok := readIndex(path, sum); ok {
		touch(path)
		return x, nil
	}
	x, err := indexTalks(ctx, o.Path, o.Counter)
	switch {
	case err != nil:
		return x, err
	case x.sum != sum:
		return x, errors.New("the file changed while it was read")
	}
	return x, writeIndex(path, x)
}

// blockKey tells counters apart that know first blocks of their own.
func blockKey(c Counter) string {
	if _, ok := c.(beginner); ok {
		return c.Rule().Hash
	}
	return "bytes"
}

func plainHash(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	_, err = io.CopyBuffer(h, ctxReader{ctx, f}, make([]byte, 1<<20))
	return sumOf(h), err
}

// readIndex is false when there is none, or none that can be read: it is made again then.
func readIndex(path, sum string) (talkIndex, bool) {
	src, err := os.ReadFile(path)
	var s savedIndex
	if err != nil || json.Unmarshal(src, &s) != nil || s.Sum != sum || len(s.Begins) != len(s.Entries) {
		return talkIndex{}, false
	}
	x := talkIndex{sum: sum, faulty: faulty{s.Faulty, s.First}, entries: make([]entry, len(s.Entries))}
	for i, e := range s.Entries {
		x.entries[i] = entry{e[0], int32(e[1]), int32(e[2]), s.Begins[i]} //nolint:gosec // as they were
	}
	return x, true
}

func writeIndex(path string, x talkIndex) error {
	s := savedIndex{Sum: x.sum, Faulty: x.n, First: x.first, Entries: make([][3]int64, len(x.entries)), Begins: make([]uint64, len(x.entries))}
	for i, e := range x.entries {
		s.Entries[i], s.Begins[i] = [3]int64{e.off, int64(e.size), int64(e.text)}, e.begin
	}
	src, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("prompt cache: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return fmt.Errorf("prompt cache: %w", err)
	}
	_, err = f.Write(src)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("prompt cache: %w", err), os.Remove(f.Name()))
	}
	return nil
}
