package client_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// BenchmarkTokenOverTCP reads a long answer through a socket, by kernel stamps: what a
// token costs on the whole way, and that it allocates nothing.
func BenchmarkTokenOverTCP(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	chunk := []byte(benchtest.Chunk(benchtest.Data(benchtest.Token(" a"))))
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, _ = io.WriteString(c, benchtest.Head)
		for range b.N {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, benchtest.Chunk(benchtest.Data("[DONE]"))+benchtest.Tail)
	}()
	c, err := client.New(client.Options{BaseURLs: []string{"http://" + l.Addr().String()}, Clock: client.NewClock(time.Now()), Transport: client.Lean})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var res client.Result
	res.Reset(int32(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	c.Do(b.Context(), &client.Request{Body: []byte("{}"), MaxTokens: int32(b.N), Stream: true}, &res)
	b.StopTimer()
	if res.Rec.Status != record.OK || res.Events() != b.N {
		b.Fatalf("%s %s, %d events of %d", res.Rec.Status, res.Rec.Error, res.Events(), b.N)
	}
}
