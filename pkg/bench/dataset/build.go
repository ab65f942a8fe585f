package dataset

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Manifest is what Build writes beside a file of prompts, as <file>.info.json.
type Manifest struct {
	Version int `json:"version"`
	// Prompts is the number of lines.
	Prompts int64 `json:"prompts"`
	// FileHash is the SHA-256 of the file, CounterHash the counter's.
	FileHash    string `json:"fileHash"`
	CounterHash string `json:"counterHash"`
	Tokens      int    `json:"tokens"`
	Seed        int64  `json:"seed"`
	// Info is the source's.
	Info Info `json:"info"`
}

func manifestPath(path string) string { return path + ".info.json" }

// Build writes o.Prompts prompts to a portable file, one JSON object a line, that the kind
// "custom" reads, and its manifest beside it. The file appears only when it is complete.
func Build(ctx context.Context, o Options, out string) (Manifest, error) {
	if o.Prompts < 1 {
		return Manifest{}, errors.New("dataset build: the number of prompts is needed")
	}
	counter, err := counterOf(o)
	if err != nil {
		return Manifest{}, err
	}
	o.Counter = counter
	s, err := Open(ctx, o)
	if err != nil {
		return Manifest{}, err
	}
	f, err := os.CreateTemp(filepath.Dir(out), ".prompts-*")
	if err != nil {
		return Manifest{}, fmt.Errorf("dataset build: %w", err)
	}
	h := sha256.New()
	err = errors.Join(writePrompts(ctx, s, o.Prompts, io.MultiWriter(f, h)), f.Close())
	m := Manifest{Version: 1, Prompts: o.Prompts, FileHash: sumOf(h), CounterHash: counter.Rule().Hash, Tokens: o.Tokens, Seed: o.Seed, Info: s.Info()}
	if err == nil {
		err = m.write(manifestPath(out))
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		return Manifest{}, errors.Join(err, os.Remove(f.Name()))
	}
	return m, nil
}

func (m Manifest) write(path string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// writePrompts writes prompts in order, a few hundred in memory at a time.
func writePrompts(ctx context.Context, s Source, n int64, w io.Writer) error {
	const step = 256
	buf := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	for first := int64(0); first < n; first += step {
		prompts, err := several(ctx, s, first, int(min(step, n-first)))
		if err != nil {
			return err
		}
		for _, p := range prompts {
			if err := enc.Encode(lineOf(p)); err != nil {
				return err
			}
		}
	}
	return buf.Flush()
}
