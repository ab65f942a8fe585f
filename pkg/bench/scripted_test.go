package bench_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/arrival"
	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

// span is a range of times; at is the i-th of an even covering of it.
type span struct{ from, to time.Duration }

func (s span) at(i int, step float64) time.Duration {
	_, part := math.Modf(float64(i) * step)
	return s.from + time.Duration(part*float64(s.to-s.from))
}

// Request i of the constructed load has this time to its first token and these gaps.
const goldenRatio, silverRatio = 0.6180339887498949, 0.4142135623730951

// playScripted serves streams whose times follow from the request's index (behind the
// last hyphen of its X-Request-Id) on an absolute schedule. args: "http" or "https", the
// spans of ttft and gap, tokens. Each text is the time of sending.
func playScripted(ctx context.Context, args []string) error {
	var d [4]time.Duration
	for i := range d {
		var err error
		if d[i], err = time.ParseDuration(args[i+1]); err != nil {
			return err
		}
	}
	tokens, err := strconv.Atoi(args[5])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	if args[0] == "https" {
		conf, err := selfSigned()
		if err != nil {
			return err
		}
		l = tls.NewListener(l, conf)
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var wg sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			return nil // closed
		}
		wg.Go(func() {
			defer context.AfterFunc(ctx, func() { _ = c.Close() })()
			defer c.Close()
			r := bufio.NewReaderSize(c, 2048)
			for script(c, r, span{d[0], d[1]}, span{d[2], d[3]}, tokens) == nil {
			}
		})
	}
}

// script answers one request.
func script(c net.Conn, r *bufio.Reader, ttft, gap span, tokens int) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return err
	}
	id := req.Header.Get("X-Request-Id")
	i, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	if err != nil {
		i = 0 // the probe
	}
	due := time.Now()
	for k := range tokens {
		if k == 0 {
			due = due.Add(ttft.at(i, goldenRatio))
		} else {
			due = due.Add(gap.at(i, silverRatio))
		}
		time.Sleep(time.Until(due))
		text := benchtest.Token(fmt.Sprint(time.Now().UnixNano()))
		if k == tokens-1 {
			text = benchtest.Last(fmt.Sprint(time.Now().UnixNano()))
		}
		b := benchtest.Chunk(benchtest.Data(text))
		if k == 0 {
			b = benchtest.Head + b
		}
		if k == tokens-1 {
			b += benchtest.Chunk(benchtest.Data(benchtest.Usage(8, tokens))) + benchtest.Chunk(benchtest.Data("[DONE]")) + benchtest.Tail
		}
		if _, err := io.WriteString(c, b); err != nil {
			return err
		}
	}
	return nil
}

func selfSigned() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}

// startScripted starts a scripted server in a process of its own and returns its URL.
func startScripted(t *testing.T, scheme string, ttft, gap span, tokens int) string {
	t.Helper()
	p := start(t, "scripted", scheme, ttft.from.String(), ttft.to.String(), gap.from.String(), gap.to.String(), strconv.Itoa(tokens))
	return scheme + "://" + p.line(t)
}

// Times that are known by construction come out of the product's own formulas within 1 %,
// at the median and at p99: TTFT, ITL and E2EL.
func TestTimesByConstruction(t *testing.T) {
	// The server's sleeps are right to a millisecond, which is to be far below 1 % of a gap.
	const tokens, n, rate = 15, 400, 100
	ttft, gap := span{300 * time.Millisecond, 900 * time.Millisecond}, span{150 * time.Millisecond, 300 * time.Millisecond}
	url := startScripted(t, "http", ttft, gap, tokens)
	stamps := make([][]int64, n)
	var mu sync.Mutex
	recs, _ := runRecorded(t, bench.Scenario{
		Name: "constructed", SkipProbe: true, RequestIDPrefix: "c-",
		Client: client.Options{BaseURLs: []string{url}, Timeouts: client.DefaultTimeouts(), OnToken: func(i int64, text []byte, _ int64, _ bool) {
			v, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			stamps[i] = append(stamps[i], v)
			mu.Unlock()
		}},
		Params: client.Params{Model: "m", IgnoreEOS: true}, Source: text(8), OutputTokens: tokens, MaxConcurrency: n,
		Arrival: arrival.Spec{Process: "constant", Rate: rate, Requests: n},
	})
	sum, err := metrics.Summarize(metrics.FromRecords(recs), metrics.ViewMifbench, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Requests.Successful != n {
		t.Fatalf("%d of %d successful: %+v", sum.Requests.Successful, n, sum.Failures)
	}
	var first, gaps, whole []time.Duration
	for i := range n {
		f, g := ttft.at(i, goldenRatio), gap.at(i, silverRatio)
		first, whole = append(first, f), append(whole, f+(tokens-1)*g)
		for range tokens - 1 {
			gaps = append(gaps, g)
		}
	}
	var wrong []string
	for name, want := range map[metrics.MetricName][]time.Duration{metrics.TTFT: first, metrics.ITL: gaps, metrics.E2EL: whole} {
		m, _ := sum.Metric(name)
		slices.Sort(want)
		for _, q := range []float64{0.5, 0.99} {
			w := float64(want[int(q*float64(len(want)-1))]) / 1e6
			got := float64(m.At(100 * q))
			t.Logf("%s p%g %.3f ms, constructed %.3f ms (%+.2f %%)", name, 100*q, got, w, 100*(got/w-1))
			if !(math.Abs(got/w-1) <= 0.01) { // n/a is wrong, too
				wrong = append(wrong, fmt.Sprintf("%s p%g is %.3f ms, constructed %.3f ms", name, 100*q, got, w))
			}
		}
	}
	if late := lateness(stamps, gap); len(wrong) > 0 && late > 5*time.Millisecond {
		t.Skipf("this machine is too busy: the server's own gaps are off by %v (p99)", late)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// lateness is the p99 of how far the server's own gaps are from those of its script.
func lateness(stamps [][]int64, gap span) time.Duration {
	var off []time.Duration
	for i, s := range stamps {
		for k := 1; k < len(s); k++ {
			off = append(off, (time.Duration(s[k]-s[k-1]) - gap.at(i, silverRatio)).Abs())
		}
	}
	slices.Sort(off)
	if len(off) == 0 {
		return 0
	}
	return off[len(off)*99/100]
}

// TestMemory holds the resident size at 10,800 streams: 200 MB over plain HTTP, 500 MB
// over TLS.
func TestMemory(t *testing.T) {
	if !heavy() {
		t.Skip("10,800 streams: MIFBENCH_HEAVY=1")
	}
	second := span{time.Second, time.Second}
	for _, c := range []struct {
		scheme string
		most   int64 // MB
	}{{"http", 200}, {"https", 500}} {
		url := startScripted(t, c.scheme, second, second, 1000)
		p := start(t, "lean", url, "10800", "1s")
		got := costOf(t, p)
		t.Logf("%s: %d MB resident at 10,800 streams, %.0f tokens/s", c.scheme, got.RSS>>20, got.Tokens/got.Seconds)
		if got.RSS>>20 > c.most {
			t.Errorf("%s: %d MB resident, want %d at most", c.scheme, got.RSS>>20, c.most)
		}
		if got.Tokens/got.Seconds < 0.9*10800 {
			t.Errorf("%s: only %.0f tokens/s came", c.scheme, got.Tokens/got.Seconds)
		}
	}
}
