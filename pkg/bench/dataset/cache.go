package dataset

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	chunkSize = 64 // prompts in a file of the cache
	chunksIn  = 16 // chunks held in memory
)

// cached keeps prompts on disk, a chunk at a time. Chunks are written whole and renamed
// into place, so that several processes may share the directory: the worst that happens
// is that two do the same work.
type cached struct {
	Source
	dir   string
	limit limit

	read, made, lost atomic.Int64 // prompts from disk, from the source, and of these not kept

	mu     sync.Mutex
	chunks map[int64]*chunk
	recent []int64
}

// chunk is being made until done is closed.
type chunk struct {
	done    chan struct{}
	prompts []Prompt
	err     error
}

// cutVersion is part of every key and changes when the same options give other prompts.
const cutVersion = 3

// identified is a counter that is not known by a hash of its own and can make one.
type identified interface {
	// Identity tells apart counters that count differently.
	Identity(ctx context.Context) (string, error)
}

// newCached puts a cache before a source. The key holds all that prompts depend on.
func newCached(ctx context.Context, o *opening, s Source) (Source, error) {
	info, counter := s.Info(), o.Counter.Rule().Hash
	if c, ok := o.Counter.(identified); ok {
		id, err := c.Identity(ctx)
		if err != nil {
			return nil, fmt.Errorf("prompt cache: %w", err)
		}
		counter = id
	}
	dir, err := cacheKey(o, info, counter)
	if err != nil {
		return nil, err
	}
	c := &cached{Source: s, dir: filepath.Join(o.CacheDir, dir), chunks: map[int64]*chunk{}}
	c.limit = limit{dir: o.CacheDir, own: c.dir, most: o.CacheMax}
	return c, nil
}

// cacheKey names the directory for all that prompts depend on.
func cacheKey(o *opening, info Info, counter string) (string, error) {
	key, err := json.Marshal([]any{
		cutVersion, info.Kind, info.Hash, counter, o.Tokens, o.SpecialTokens, o.Seed, o.OutputTokens,
		o.Column, o.Language, o.values, o.PromptFormat, info.Distinct,
	})
	if err != nil {
		return "", fmt.Errorf("cache key: %w", err)
	}
	sum := sha256.Sum256(key)
	return "prompts-" + hex.EncodeToString(sum[:16]), nil
}

// Prompt answers from memory, from disk, or by cutting the chunk that i is in.
func (c *cached) Prompt(ctx context.Context, i int64) (Prompt, error) {
	k := i / chunkSize
	for {
		ch, mine := c.chunk(k)
		if mine {
			ch.prompts, ch.err = c.load(ctx, k)
			if ch.err != nil {
				c.forget(k)
			}
			close(ch.done)
		}
		select {
		case <-ch.done:
		case <-ctx.Done():
			return Prompt{}, ctx.Err()
		}
		if ch.err == nil {
			return ch.prompts[i%chunkSize], nil
		}
		// Another caller's cancelled context is not this caller's failure.
		if mine || ctx.Err() != nil || !errors.Is(ch.err, context.Canceled) {
			return Prompt{}, ch.err
		}
	}
}

// chunk returns chunk k and whether the caller has to make it.
func (c *cached) chunk(k int64) (*chunk, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch, ok := c.chunks[k]; ok {
		return ch, false
	}
	ch := &chunk{done: make(chan struct{})}
	c.chunks[k] = ch
	if c.recent = append(c.recent, k); len(c.recent) > chunksIn {
		delete(c.chunks, c.recent[0])
		c.recent = c.recent[1:]
	}
	return ch, true
}

func (c *cached) forget(k int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.chunks, k)
}

func (c *cached) load(ctx context.Context, k int64) ([]Prompt, error) {
	path := filepath.Join(c.dir, fmt.Sprintf("%08d.jsonl", k))
	prompts, err := readChunk(path)
	if err == nil {
		c.read.Add(chunkSize)
		touch(c.dir)
		return prompts, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("prompt cache %s: %w; delete it and it is made again", path, err)
	}
	if prompts, err = several(ctx, c.Source, k*chunkSize, chunkSize); err != nil {
		return nil, err
	}
	c.made.Add(chunkSize)
	if err := c.keep(path, prompts); err != nil {
		return nil, fmt.Errorf("prompt cache: %w", err)
	}
	return prompts, nil
}

// keep writes a chunk where the cache has room for it.
func (c *cached) keep(path string, prompts []Prompt) error {
	size := int64(0)
	for _, p := range prompts {
		size += int64(len(p.Text) + 8*len(p.TokenIDs) + 64)
	}
	room, err := c.limit.room(size)
	if err != nil {
		return err
	}
	if !room {
		c.lost.Add(chunkSize)
		return nil
	}
	for tried := false; ; tried = true {
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return err
		}
		// Another process may have just taken the directory away.
		if err = writeChunk(path, prompts); tried || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// CacheUse is how much a source's cache was of use.
type CacheUse struct {
	// Dir is where this source's prompts are.
	Dir string
	// Read is how many prompts came from there, Made how many had to be cut. Lost is how many
	// of these were not kept, because the cache has reached its size.
	Read, Made, Lost int64
}

// CacheUseOf tells how a source's cache was used so far; nothing when it has none.
func CacheUseOf(s Source) CacheUse {
	c, ok := s.(*cached)
	if !ok {
		return CacheUse{}
	}
	return CacheUse{c.dir, c.read.Load(), c.made.Load(), c.lost.Load()}
}

// several gets n prompts from the first on with all processors.
func several(ctx context.Context, s Source, first int64, n int) ([]Prompt, error) {
	out, errs := make([]Prompt, n), make([]error, n)
	var wg sync.WaitGroup
	workers := max(1, runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && ctx.Err() == nil; i += workers {
				out[i], errs[i] = s.Prompt(ctx, first+int64(i))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

func readChunk(path string) ([]Prompt, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	dec := json.NewDecoder(bufio.NewReader(f))
	prompts := make([]Prompt, chunkSize)
	for i := range prompts {
		var l line
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if prompts[i], err = l.toPrompt(i); err != nil {
			return nil, err
		}
	}
	return prompts, nil
}

func writeChunk(path string, prompts []Prompt) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".chunk-*")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, p := range prompts {
		if err = enc.Encode(lineOf(p)); err != nil {
			break
		}
	}
	err = errors.Join(err, w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
