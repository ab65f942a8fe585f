package sim

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
)

// BenchmarkEmit is the cost of one token's event without the socket.
func BenchmarkEmit(b *testing.B) {
	j := &job{stream: true, prompt: 512, max: 1 << 30, reason: "length"}
	w := newWire(j, "cmpl-0123456789abcdef0123456789abcdef", "deepseek-ai/DeepSeek-R1", 1764460000, 0)
	st := &stream{w: w, chunk: true}
	var buf []byte
	b.ReportAllocs()
	for i := range b.N {
		buf = append(buf[:0], sizeGap...)
		buf = w.token(buf, i, i+1, 0, false, false)
		buf = st.frame(buf, 0)
	}
}

// BenchmarkChunks is the cost of one token over loopback, client included: 200
// streams that read as fast as they can, one write and one read per token.
func BenchmarkChunks(b *testing.B) {
	cfg := DefaultConfig()
	cfg.Listen, cfg.ITL = "127.0.0.1:0", 1
	cfg.MaxModelLen = 1 << 40
	s, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	stop := serveInBackground(b, s)
	defer stop()
	const streams = 200
	tokens := max(2, b.N/streams)
	conns := make([]net.Conn, streams)
	body := fmt.Sprintf(`{"prompt":"a","max_tokens":%d,"ignore_eos":true,"stream":true}`, tokens)
	done := make(chan error, streams)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range conns {
		if conns[i], err = net.Dial("tcp", s.Addr().String()); err != nil {
			b.Fatal(err)
		}
		defer conns[i].Close()
		fmt.Fprintf(conns[i], "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		go func() {
			_, err := io.Copy(io.Discard, bufio.NewReader(conns[i]))
			done <- err
		}()
	}
	for range conns {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
	b.ReportMetric(float64(streams*tokens)/b.Elapsed().Seconds(), "tokens/s")
}
