package bench

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
)

// due is a request of the schedule.
type due struct {
	index int64
	at    time.Duration
}

// dues numbers a schedule and keeps what belongs to the shard.
func dues(seq iter.Seq[time.Duration], shard Shard) iter.Seq[due] {
	return func(yield func(due) bool) {
		i := int64(0)
		for at := range seq {
			if shard.has(i) && !yield(due{i, at}) {
				return
			}
			i++
		}
	}
}

// ready is a due request, rendered.
type ready struct {
	due
	req *client.Request
	err error
}

// preparer renders requests ahead of their time, so that tokenizing and encoding are
// not part of the send. Workers take requests in turn and keep them in order.
type preparer struct {
	lanes []chan ready
	full  chan struct{} // closed when all lanes are full or done
	next  int
	wg    sync.WaitGroup
}

// prepare starts the workers; they end with ctx or the schedule.
func prepare(ctx context.Context, s Scenario, t *client.Template, seq iter.Seq[due]) *preparer {
	n := workers()
	p := &preparer{full: make(chan struct{})}
	var filling sync.WaitGroup
	for range n {
		p.lanes = append(p.lanes, make(chan ready, max(1, s.Prefetch/n)))
	}
	for w := range n {
		filling.Add(1)
		p.wg.Go(func() { p.work(ctx, s, t, seq, w, sync.OnceFunc(filling.Done)) })
	}
	p.wg.Go(func() {
		filling.Wait()
		close(p.full)
	})
	return p
}

// work renders every n-th request from the w-th on. Each worker walks the schedule
// itself: it is pure and costs nothing next to a prompt.
func (p *preparer) work(ctx context.Context, s Scenario, t *client.Template, seq iter.Seq[due], w int, filled func()) {
	lane, k := p.lanes[w], 0
	defer close(lane)
	defer filled()
	for d := range seq {
		if k++; (k-1)%len(p.lanes) != w {
			continue
		}
		r := render(ctx, s, t, d)
		if len(lane) == cap(lane) {
			filled()
		}
		select {
		case lane <- r:
		case <-ctx.Done():
			return
		}
	}
}

// take returns the next request in order; false when there are no more.
func (p *preparer) take() (ready, bool) {
	r, ok := <-p.lanes[p.next]
	p.next = (p.next + 1) % len(p.lanes)
	return r, ok
}

func render(ctx context.Context, s Scenario, t *client.Template, d due) ready {
	prompt, err := s.Source.Prompt(ctx, d.index)
	if err != nil {
		return ready{due: d, err: fmt.Errorf("prompt %d: %w", d.index, err)}
	}
	out := prompt.OutputTokens
	if out == 0 {
		out = s.OutputTokens
	}
	body, err := t.Body(prompt.Text, prompt.TokenIDs, int32(out))
	if err != nil {
		return ready{due: d, err: fmt.Errorf("request %d: %w", d.index, err)}
	}
	req := &client.Request{Index: d.index, Body: body, MaxTokens: int32(out), PromptTokens: int32(prompt.Tokens), Stream: !s.Params.NoStream}
	if s.RequestIDPrefix != "" {
		req.ID = fmt.Sprintf("%s%d", s.RequestIDPrefix, d.index)
	}
	// Prompts depend on the index only, so the body need not be kept for an error's sake.
	req.Again = func() []byte {
		if r := render(context.WithoutCancel(ctx), s, t, d); r.err == nil {
			return r.req.Body
		}
		return nil
	}
	return ready{due: d, req: req}
}
