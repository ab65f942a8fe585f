package dataplane

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// gatewayEnv makes the test binary play the gateway's process in front of the engine at its value.
const gatewayEnv = "MIFBENCH_TEST_GATEWAY_ENGINE"

// TestGatewayProcess is not a test but the other process of BenchmarkPaced; it ends with its standard input.
func TestGatewayProcess(t *testing.T) {
	engine := os.Getenv(gatewayEnv)
	if engine == "" {
		t.Skip("only a helper of BenchmarkPaced")
	}
	g := New(&Picker{}, Transport())
	g.Set(&Table{Routes: []Route{{Pool: &Pool{Decode: []string{engine}, Prefill: []string{engine}}}}})
	s, err := Listen(t.Context(), "127.0.0.1", 0, g, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("listening", s.Address)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkPaced measures the CPU that the gateway alone, in a process of its own, spends on a chunk, when streams bring
// chunks at the pace of an engine (50 a second each) rather than as fast as they can.
func BenchmarkPaced(b *testing.B) {
	for _, streams := range []int{100, 300} {
		b.Run(fmt.Sprintf("%d-streams", streams), func(b *testing.B) { paced(b, streams) })
	}
}

func paced(b *testing.B, streams int) {
	const interval = 20 * time.Millisecond
	each := max(1, b.N/streams)
	chunk := []byte("data: " + strings.Repeat("x", 260) + "\n\n")
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := time.Now()
		for range each {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			next = next.Add(interval)
			time.Sleep(time.Until(next))
		}
	}))
	defer engine.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGatewayProcess$")
	cmd.Env = append(os.Environ(), gatewayEnv+"="+strings.TrimPrefix(engine.URL, "http://"))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanf(bufio.NewReader(out), "listening %s", &address); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	errs := make(chan error, streams)
	for i := range streams {
		go func() {
			time.Sleep(interval * time.Duration(i) / time.Duration(streams))
			errs <- drain(b.Context(), "http://"+address)
		}()
	}
	for range streams {
		if err := <-errs; err != nil {
			b.Error(err)
		}
	}
	wall := time.Since(start)
	if err := in.Close(); err != nil {
		b.Error(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		b.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Error(err)
	}
	chunks := float64(streams * each)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu.Microseconds())/chunks, "gateway-us/chunk")
	b.ReportMetric(chunks/wall.Seconds(), "chunks/s")
	b.ReportMetric(cpu.Seconds()/wall.Seconds(), "gateway-cores")
}
