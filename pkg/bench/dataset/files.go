package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// bytesPerToken is what is set aside for a token when a text is divided among prompts.
const bytesPerToken = 5

// filesBelow lists the files with one of the endings, sorted; a path that is a file is
// its own list.
func filesBelow(path string, endings ...string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, e := range endings {
			if strings.HasSuffix(strings.ToLower(p), e) {
				files = append(files, p)
				break
			}
		}
		return nil
	})
	sort.Strings(files)
	return files, err
}

// hashFile adds a text file's bytes to h and notes when they are not UTF-8.
func hashFile(ctx context.Context, h hash.Hash, path string, bad *faulty) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // only read
	check := utf8Check{bad: -1}
	n, err := io.Copy(io.MultiWriter(h, &check), ctxReader{ctx, f})
	if at := check.end(); at >= 0 {
		bad.found(1, fmt.Sprintf("%s at byte %d", path, at))
	}
	return n, err
}

// ctxReader ends a long read with its context.
type ctxReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one call
	r   io.Reader
}

// Read reads unless the context has ended.
func (r ctxReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func fnvOf(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, parts...) //nolint:errcheck // a hash does not fail
	return mix(h.Sum64())
}

// openText is the kind "text": .txt files laid end to end.
func openText(ctx context.Context, o *opening) (Source, error) {
	bodies, sum, bad, err := textBodies(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	return newStreamPieces(ctx, o, newStream(bodies, o.budget()*bytesPerToken, o.Seed), sum, bad.warning("files"))
}

func textBodies(ctx context.Context, path string) (bodies []body, sum string, bad faulty, err error) {
	files, err := filesBelow(path, ".txt", ".md")
	if err != nil {
		return nil, "", bad, err
	}
	if len(files) == 0 {
		return nil, "", bad, errors.New("no .txt file in the directory")
	}
	h := sha256.New()
	for _, f := range files {
		n, err := hashFile(ctx, h, f, &bad)
		if err != nil {
			return nil, "", bad, fmt.Errorf("%s: %w", f, err)
		}
		if n > 0 {
			bodies = append(bodies, body{path: f, size: n})
		}
	}
	return bodies, sumOf(h), bad, nil
}
