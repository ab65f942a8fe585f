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
	index int // number of the first element
	raw   []byte
	at    []entry // off and size; the worker fills in the rest
	kept  []entry
	faulty
	done chan struct{}
}

// talkIndex is what is known of a ShareGPT file.
type talkIndex struct {
	entries []entry
	sum     string
	faulty  // entries with characters that are none
}

// indexTalks reads the whole file once: where the entries lie, what they begin with, and the
// hash of it all. One goroutine cuts the file into entries, one a processor decodes them, and
// a few MiB are held at any time.
func indexTalks(ctx context.Context, path string, c Counter) (x talkIndex, err error) {
	f, err := os.Open(path)
	if err != nil {
		return x, err
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
				x.entries = append(x.entries, b.kept...)
				x.found(b.n, b.first)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	err = group.Wait()
	x.sum = sumOf(h)
	return x, err
}

// cutBatches hands out the file's elements in batches, to the workers and in order.
func cutBatches(ctx context.Context, r io.Reader, work, ordered chan<- *batch) error {
	s, err := newSplitter(r)
	if err != nil {
		return err
	}
	for last := false; !last; {
		b := &batch{index: s.count, raw: make([]byte, 0, batchBytes+batchBytes/8), done: make(chan struct{})}
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
			return fmt.Errorf("entry %d at byte %d: %w", b.index+k, e.off, err)
		}
		raw = raw[e.size:]
		if one.Conversations == nil {
			return fmt.Errorf("entry %d at byte %d has no conversations; want {\"conversations\": [{\"from\": …, \"value\": …}, …]}", b.index+k, e.off)
		}
		text, clean := one.text()
		if !clean {
			b.found(1, fmt.Sprintf("entry %d at byte %d", b.index+k, e.off))
		}
		if len(one.Conversations) < 2 || text == "" {
			continue
		}
		begin, err := placeBlock(ctx, c, text)
		if err != nil {
			return err
		}
		e.text, e.begin = int32(min(len(text), 1<<30)), begin //nolint:gosec // bounded
		b.kept = append(b.kept, e)
	}
	b.raw = nil
	return nil
}
