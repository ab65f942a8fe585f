package dataset

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// leastLooked is how many places are looked at when the number of prompts is not known or
// small.
const leastLooked = 4096

// distinct leaves out the places of a corpus that begin like an earlier one: texts repeat
// themselves, in licences, headings and tables. It looks at as many places as there are
// prompts, in their order, and at more when they are asked for, so prompt i does not depend
// on how many are wanted.
type distinct struct {
	corpus
	counter Counter
	count   int64 // places, as far as was known when it was opened

	mu     sync.RWMutex
	places []int64 // of the corpus
	looked int64
	begins begins
}

// newDistinct looks until it has the places for all prompts, or has seen them all.
func newDistinct(ctx context.Context, o *opening, c corpus) (*distinct, error) {
	d := &distinct{corpus: c, counter: o.Counter, begins: newBegins(0)}
	err := d.look(ctx, max(o.Prompts, leastLooked))
	d.count = int64(len(d.places)) + c.Places() - d.looked
	return d, err
}

// look goes on until there are want places, or no more.
func (d *distinct) look(ctx context.Context, want int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.looked < d.corpus.Places() && int64(len(d.places)) < want {
		blocks, err := d.blocks(ctx, min(d.corpus.Places()-d.looked, 1024))
		if err != nil {
			return err
		}
		for k, b := range blocks {
			if d.begins.add(b) {
				d.places = append(d.places, d.looked+int64(k))
			}
		}
		d.looked += int64(len(blocks))
	}
	return nil
}

// blocks reads the first blocks of the next n places with all processors.
func (d *distinct) blocks(ctx context.Context, n int64) ([]uint64, error) {
	out := make([]uint64, n)
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(out); i += workers {
				text, err := d.begin(ctx, d.looked+int64(i))
				if err != nil {
					return err
				}
				if out[i], err = placeBlock(ctx, d.counter, text); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// begin is a place's text from its first word on, enough for a block: there may be much white
// space before it.
func (d *distinct) begin(ctx context.Context, place int64) (string, error) {
	const most = 1 << 20
	for want := 2 * blockMost; ; want *= 8 {
		text, err := d.corpus.Text(ctx, place, want)
		if err != nil {
			return "", err
		}
		if text = text[nextStart(text, 0):]; len(text) >= blockMost || want >= most {
			return text, nil
		}
	}
}

// Places counts the places that were left, and those that had not been looked at.
func (d *distinct) Places() int64 { return d.count }

// Text is that of the i-th place that is left; where there are fewer than it seemed, from the
// first again.
func (d *distinct) Text(ctx context.Context, i int64, want int) (string, error) {
	places, err := d.atLeast(ctx, i+1)
	if err != nil {
		return "", err
	}
	return d.corpus.Text(ctx, places[i%int64(len(places))], want)
}

// has tells whether there is an i-th place.
func (d *distinct) has(ctx context.Context, i int64) (bool, error) {
	places, err := d.atLeast(ctx, i+1)
	return i < int64(len(places)), err
}

// atLeast returns n places, or all that there are.
func (d *distinct) atLeast(ctx context.Context, n int64) ([]int64, error) {
	d.mu.RLock()
	places, all := d.places, d.looked >= d.corpus.Places()
	d.mu.RUnlock()
	if all || n <= int64(len(places)) {
		return places, nil
	}
	if err := d.look(ctx, n); err != nil {
		return nil, err
	}
	return d.atLeast(ctx, 0)
}
