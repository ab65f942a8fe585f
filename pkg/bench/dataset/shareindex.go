package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// batchBytes is how much of a file one worker gets at a time.
const batchBytes = 1 << 20

// batch is some elements of a file on their way through a worker.
type batch struct {
	first int // number of the first element
	raw   []byte
	at    []entry // off and size; the worker fills in the rest
	kept  []entry
	done  chan struct{}
}

// indexTalks reads the whole file once: where the entries lie, what they begin with, and the
// hash of it all. One goroutine cuts the file into entries, one a processor decodes them, and
// a few MiB are held at any time.
func indexTalks(ctx context.Context, path string, c Counter) (entries []entry, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	work, ordered := make(chan *batch, workers), make(chan *batch, 2*workers)
	group.Go(func() error {
		defer close(work)
		defer close(ordered)
		return cutBatches(ctx, io.TeeReader(ctxReader{ctx, f}, h), work, ordered)
	})
	for range workers {
		group.Go(func() error {
			for b := range work {
				if err := b.decode(ctx, c); err != nil {
					return err
				}
				close(b.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		for b := range ordered {
			select {
			case <-b.done:
				entries = append(entries, b.kept...)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, "", err
	}
	return entries, sumOf(h), nil
}

// cutBatches hands out the file's elements in batches, to the workers and in order.
func cutBatches(ctx context.Context, r io.Reader, work, ordered chan<- *batch) error {
	s, err := newSplitter(r)
	if err != nil {
		return err
	}
	for last := false; !last; {
		b := &batch{first: s.count, done: make(chan struct{})}
		for len(b.raw) < batchBytes {
			raw, off, err := s.next()
			if last = errors.Is(err, io.EOF); last {
				break
			}
			if err != nil {
				return err
			}
			b.at = append(b.at, entry{off: off, size: int32(len(raw))}) //nolint:gosec // at most maxElement
			b.raw = append(b.raw, raw...)
		}
		for _, to := range []chan<- *batch{work, ordered} {
			select {
			case to <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// decode looks at the elements; those without two turns or without text are left out.
func (b *batch) decode(ctx context.Context, c Counter) error {
	raw := b.raw
	for k, e := range b.at {
		var one talk
		if err := json.Unmarshal(raw[:e.size], &one); err != nil {
			return fmt.Errorf("entry %d at byte %d: %w", b.first+k, e.off, err)
		}
		raw = raw[e.size:]
		if one.Conversations == nil {
			return fmt.Errorf("entry %d at byte %d has no conversations; want {\"conversations\": [{\"from\": …, \"value\": …}, …]}", b.first+k, e.off)
		}
		text := one.text()
		if len(one.Conversations) < 2 || text == "" {
			continue
		}
		begin, err := firstBlock(ctx, c, text)
		if err != nil {
			return err
		}
		e.text, e.begin = int32(min(len(text), 1<<30)), begin //nolint:gosec // bounded
		b.kept = append(b.kept, e)
	}
	b.raw = nil
	return nil
}
