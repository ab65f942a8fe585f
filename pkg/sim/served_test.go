package sim

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// rehearsal is the published deployment, served over sockets in accelerated and
// scaled-down time: 2 prefill and 3 decode servers of 8 ranks.
type rehearsal struct {
	speed           float64
	servers         []*Server
	prefill, decode []string
	client          http.Client
}

func newRehearsal(t *testing.T, speed, scale float64) *rehearsal {
	r := &rehearsal{speed: speed, client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}}
	add := func(role Role, n int) (addrs []string) {
		for i := range n {
			s := start(t, func(c *Config) {
				*c = DefaultConfig()
				c.Listen, c.Preset, c.Ranks, c.Role, c.Seed = "127.0.0.1:0", "mi300x-r1", 8, role, uint64(i)
				c.Speedup, c.StreamScale = speed, scale
			})
			r.servers = append(r.servers, s)
			for _, a := range s.Addrs() {
				addrs = append(addrs, a.String())
			}
		}
		return addrs
	}
	r.prefill, r.decode = add(RolePrefill, 2), add(RoleDecode, 3)
	t.Cleanup(r.client.CloseIdleConnections)
	return r
}

// request is one request of the run; times are virtual.
type request struct{ tokens []time.Duration }

func (r *rehearsal) do(t *testing.T, i, in, out int, began time.Time) (q request) {
	body := fmt.Sprintf(`{"prompt":[%s1],"max_tokens":%d,"ignore_eos":true,"stream":true}`, strings.Repeat("1,", in-1), out)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.decode[i%len(r.decode)]+"/v1/completions", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return q
	}
	req.Header.Set("X-Prefiller-Host-Port", r.prefill[i%len(r.prefill)])
	resp, err := r.client.Do(req)
	if err != nil {
		t.Error(err)
		return q
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(`"text":`)) {
			q.tokens = append(q.tokens, time.Duration(float64(time.Since(began))*r.speed))
		}
	}
	return q
}

// TestServedRow runs the first published row through real sockets: 48 streams
// stand for 10,800, and time runs 20 times faster. What comes out is what Predict
// says of the same 48 streams.
func TestServedRow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 15 s")
	}
	const speed, scale, slots, n = 20, 225, 48, 144
	want := published[0]
	r := newRehearsal(t, speed, scale)
	offsets := poisson(n, want.rate/scale, 1)
	began, free := time.Now(), make(chan struct{}, slots)
	done := make([]request, n)
	var wg sync.WaitGroup
	for i := range n {
		time.Sleep(time.Until(began.Add(time.Duration(float64(offsets[i]) / speed))))
		free <- struct{}{}
		wg.Go(func() {
			done[i] = r.do(t, i, want.in, want.out, began)
			<-free
		})
	}
	wg.Wait()
	tps, itl := trimmed(done, offsets[0]+want.warmup, want.cooldown)
	tps *= scale
	load := publishedLoad(0)
	load.StreamScale, load.Requests, load.Rate, load.Concurrency = scale, n, want.rate/scale, slots
	model := Predict(load)
	dTPS, dITL := off(tps, scale*model.OutputPerSecond), off(itl, ms(model.ITL.Mean))
	t.Logf("tok/s %.0f (%+.1f %% of the prediction, %+.1f %% of the published row), mean ITL %.1f ms (%+.1f %%, %+.1f %%)",
		tps, dTPS, off(tps, want.tps), itl, dITL, off(itl, want.itl))
	late := uint64(0)
	for _, s := range r.servers {
		late += s.Slips()
	}
	if late > 1000 { // of about 60,000
		t.Skipf("this machine is too busy: %d engine steps were more than a step late", late)
	}
	if math.Abs(dTPS) > 4 || math.Abs(dITL) > 4 {
		t.Errorf("tok/s %.0f, mean ITL %.1f ms: more than 4 %% off the prediction", tps, itl)
	}
}

// trimmed applies the published tool's rule; the ITL is in milliseconds.
func trimmed(done []request, from, cooldown time.Duration) (tps, itl float64) {
	var to time.Duration
	for _, q := range done {
		to = max(to, q.tokens[len(q.tokens)-1])
	}
	to -= cooldown
	tokens, gaps, sum := 0, 0, time.Duration(0)
	for _, q := range done {
		for i, at := range q.tokens {
			if at < from || at >= to {
				continue
			}
			tokens++
			if i > 0 {
				gaps++
				sum += at - q.tokens[i-1]
			}
		}
	}
	return float64(tokens) / (to - from).Seconds(), ms(sum) / float64(gaps)
}
