package cli

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// cutters is how many prompts are cut at a time.
const cutters = 8

// cutAll cuts every prompt before the run, as upstream does: a server that counts tokens
// must not do so while it is measured.
func (s *serving) cutAll(ctx context.Context, source dataset.Source) (dataset.Source, error) {
	n := s.flags.numPrompts
	if d := source.Info().Distinct; d > 0 && d < n {
		n = d
	}
	s.app.say("Cutting %d prompts by the server's own count …", n)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.app.soft, func() { cancel(context.Canceled) })
	defer stop()
	all := make([]dataset.Prompt, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range cutters {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < n && ctx.Err() == nil; i = next.Add(1) - 1 {
				p, err := source.Prompt(ctx, i)
				if err != nil {
					cancel(err)
					return
				}
				all[i] = p
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return cutPrompts{all, source.Info()}, nil
}

// cutPrompts are prompts in memory; more than there are repeat.
type cutPrompts struct {
	all  []dataset.Prompt
	info dataset.Info
}

// Prompt implements dataset.Source.
func (c cutPrompts) Prompt(_ context.Context, i int64) (dataset.Prompt, error) {
	return c.all[i%int64(len(c.all))], nil
}

// Info implements dataset.Source.
func (c cutPrompts) Info() dataset.Info { return c.info }
