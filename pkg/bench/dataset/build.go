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
	// Tokens is the length that was asked for, 0 when the source has lengths of its own;
	// SpecialTokens of them the server was said to add.
	Tokens        int   `json:"tokens,omitempty"`
	SpecialTokens int   `json:"specialTokens,omitempty"`
	Seed          int64 `json:"seed"`
	// Info is the source's.
	Info Info `json:"info"`
}

func manifestPath(path string) string { return path + ".info.json" }

// ReadManifest reads what Build wrote beside a file; nil when there is nothing.
func ReadManifest(path string) (*Manifest, error) {
	src, err := os.ReadFile(manifestPath(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(src, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestPath(path), err)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%s is of version %d, this mifbench knows %d; build the file again", manifestPath(path), m.Version, manifestVersion)
	}
	return m, nil
}

const manifestVersion = 1

// Build writes o.Prompts prompts to a portable file, one JSON object a line, that the kind
// "custom" reads, and its manifest beside it. The file appears only when it is complete.
func Build(ctx context.Context, o Options, out string) (Manifest, CacheUse, error) {
	if o.Prompts < 1 {
		return Manifest{}, CacheUse{}, errors.New("dataset build: the number of prompts is needed")
	}
	counter, err := counterOf(o)
	if err != nil {
		return Manifest{}, CacheUse{}, err
	}
	o.Counter = counter
	s, err := Open(ctx, o)
	if err != nil {
		return Manifest{}, CacheUse{}, err
	}
	m, err := buildFile(ctx, s, o, out)
	return m, CacheUseOf(s), err
}

func buildFile(ctx context.Context, s Source, o Options, out string) (Manifest, error) {
	f, err := os.CreateTemp(filepath.Dir(out), ".prompts-*")
	if err != nil {
		return Manifest{}, fmt.Errorf("dataset build: %w", err)
	}
	h := sha256.New()
	err = errors.Join(writePrompts(ctx, s, o.Prompts, io.MultiWriter(f, h)), f.Close())
	m := Manifest{
		Version: manifestVersion, Prompts: o.Prompts, FileHash: sumOf(h), CounterHash: o.Counter.Rule().Hash,
		SpecialTokens: o.SpecialTokens, Seed: o.Seed, Info: s.Info(),
	}
	if k, e := kindOf(o); e == nil && k.NeedsTokens {
		m.Tokens = o.Tokens
	}
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
