package dataplane

import (
	"context"
	"sync"
)

type choiceKey struct{}

func withChoice(ctx context.Context, c *choice) context.Context {
	return context.WithValue(ctx, choiceKey{}, c)
}

func choiceOf(ctx context.Context) *choice { return ctx.Value(choiceKey{}).(*choice) }

// buffers lends copy buffers. A stream keeps one for its whole life and a token is about 200 bytes, so the proxy's
// usual 32 KiB would be 350 MB for 10,800 streams.
type buffers struct{ pool sync.Pool }

const bufferSize = 4 << 10

func (b *buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return *v
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
