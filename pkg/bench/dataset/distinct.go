package dataset

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// leastLooked is how many places are looked at when the number of prompts is not known or
// small.
const leastLooked = 4096

// distinct leaves out the places of a corpus that begin like an earlier one: texts repeat
// themselves, in licences, headings and tables. It looks at as many places as there are
// prompts, in their order, so prompt i does not depend on how many are wanted.
type distinct struct {
	corpus
	places []int64 // of the corpus
	looked int64
	begins begins
}

// begins are the first blocks that prompts begin with.
type begins struct {
	counter Counter
	seen    map[uint64]struct{}
}

// Taken tells whether a place begins like this text.
func (b *begins) Taken(ctx context.Context, text string) (bool, error) {
	k, err := firstBlock(ctx, b.counter, text)
	_, ok := b.seen[k]
	return ok, err
}

// newDistinct looks until it has the places for all prompts, or has seen them all.
func newDistinct(ctx context.Context, o *opening, c corpus) (*distinct, error) {
	want := max(o.Prompts, leastLooked)
	d := &distinct{corpus: c, begins: begins{o.Counter, map[uint64]struct{}{}}}
	for d.looked < c.Places() && int64(len(d.places)) < want {
		blocks, err := d.blocks(ctx, min(c.Places()-d.looked, 1024))
		if err != nil {
			return nil, err
		}
		for k, b := range blocks {
			if _, ok := d.begins.seen[b]; !ok && int64(len(d.places)) < want {
				d.begins.seen[b] = struct{}{}
				d.places = append(d.places, d.looked+int64(k))
			}
		}
		d.looked += int64(len(blocks))
	}
	return d, nil
}

// blocks reads the first blocks of the next n places with all processors.
func (d *distinct) blocks(ctx context.Context, n int64) ([]uint64, error) {
	out := make([]uint64, n)
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(out); i += workers {
				text, err := d.corpus.Text(ctx, d.looked+int64(i), blockMost)
				if err != nil {
					return err
				}
				if out[i], err = firstBlock(ctx, d.begins.counter, text[nextStart(text, 0):]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// Places counts the places that were left, and those that were not looked at.
func (d *distinct) Places() int64 { return int64(len(d.places)) + d.corpus.Places() - d.looked }

// Text is that of the i-th place that is left.
func (d *distinct) Text(ctx context.Context, i int64, want int) (string, error) {
	if n := int64(len(d.places)); i >= n {
		return d.corpus.Text(ctx, d.looked+i-n, want)
	}
	return d.corpus.Text(ctx, d.places[i], want)
}

// Taken tells whether a place begins like this text.
func (d *distinct) Taken(ctx context.Context, text string) (bool, error) {
	return d.begins.Taken(ctx, text)
}
