package sim

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseFault(t *testing.T) {
	for spec, want := range map[string]Fault{
		"5xx":                        {Kind: "5xx", Rate: 1, N: 500},
		"5xx=503:0.25":               {Kind: "5xx", Rate: 0.25, N: 503},
		"reset:after=3":              {Kind: "reset", Rate: 1, After: 3},
		"stall=1.5s:0.5:after=2":     {Kind: "stall", Rate: 0.5, After: 2, Delay: 1500 * time.Millisecond},
		"stall":                      {Kind: "stall", Rate: 1, Delay: time.Hour},
		"merge=4":                    {Kind: "merge", Rate: 1, N: 4},
		"slow-first-byte:rate=0":     {Kind: "slow-first-byte", Delay: time.Second},
		"in-stream-error:1:after=10": {Kind: "in-stream-error", Rate: 1, After: 10},
	} {
		got, err := ParseFault(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
		if again, err := ParseFault(got.String()); err != nil || again != got {
			t.Errorf("%s: String() %q is read as %+v, %v", spec, got.String(), again, err)
		}
	}
	for _, spec := range []string{"", "5XX", "reset=3", "5xx=404", "merge=0", "stall=5", "429:2", "crlf:after=1", "reset:after=-1", "5xx:x", "stall=-1s", "429:NaN"} {
		if f, err := ParseFault(spec); err == nil {
			t.Errorf("%q was read as %+v", spec, f)
		}
	}
}

func TestFaultRateIsSeededAndRight(t *testing.T) {
	faults := []Fault{{Kind: fault429, Rate: 0.2}}
	n := 0
	for i := range uint64(10000) {
		hit := draw(faults, 7, i)
		if (hit == nil) != (draw(faults, 7, i) == nil) {
			t.Fatal("the same request, another verdict")
		}
		if hit != nil {
			n++
		}
	}
	if n < 1850 || n > 2150 {
		t.Errorf("%d of 10000 hit, want about 2000", n)
	}
}

// TestFaults plays every row of the table.
func TestFaults(t *testing.T) {
	const events = 6 // five tokens and [DONE]
	count := func(b string) int { return strings.Count(b, "data: ") }
	broken := func(b string) bool { return strings.Contains(b, "!! ") }
	cases := map[string]struct {
		spec string
		ok   func(*http.Response, string) bool
	}{
		fault5xx: {"5xx=503", func(r *http.Response, b string) bool { return r.StatusCode == 503 && strings.Contains(b, `"code":503`) }},
		fault429: {"429", func(r *http.Response, _ string) bool {
			return r.StatusCode == 429 && r.Header.Get("Retry-After") == "1"
		}},
		faultReset: {"reset:after=2", func(_ *http.Response, b string) bool {
			return count(b) <= 2 && broken(b) && strings.Contains(b, "reset")
		}},
		faultTruncate: {"truncate:after=2", func(_ *http.Response, b string) bool {
			return count(b) == 3 && broken(b) && !strings.Contains(b, "[DONE]")
		}},
		faultInStream: {"in-stream-error:after=2", func(_ *http.Response, b string) bool {
			return count(b) == 4 && strings.Contains(b, `{"error": {"message"`) && !broken(b)
		}},
		faultNoDone: {"no-done", func(_ *http.Response, b string) bool {
			return count(b) == events-1 && !broken(b) && !strings.Contains(b, "[DONE]")
		}},
		faultEmptyFirst: {"empty-first-chunk", func(_ *http.Response, b string) bool { return count(b) == events+1 && strings.Contains(b, `"text":""`) }},
		faultCRLF:       {"crlf", func(_ *http.Response, b string) bool { return strings.Count(b, "\r\n\r\n") == events }},
		faultMerge:      {"merge=2", func(_ *http.Response, b string) bool { return count(b) == 4 }},
		faultUsageLast: {"usage-in-last", func(_ *http.Response, b string) bool {
			return count(b) == events && strings.Contains(b, `"finish_reason":"length"`) && strings.Contains(b, `"completion_tokens":5`)
		}},
		faultStall:     {"stall=50ms:after=2", func(_ *http.Response, b string) bool { return count(b) == events && !broken(b) }},
		faultSlowFirst: {"slow-first-byte=50ms", func(_ *http.Response, b string) bool { return count(b) == events && !broken(b) }},
	}
	for _, k := range FaultKinds() {
		t.Run(k.Name, func(t *testing.T) {
			c, ok := cases[k.Name]
			if !ok {
				t.Fatal("this kind has no test")
			}
			f, err := ParseFault(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, func(cfg *Config) { cfg.Faults = []Fault{f} })
			body := `{"prompt":"a","max_tokens":5,"ignore_eos":true,"stream":true}`
			if k.Name == faultUsageLast {
				body = `{"prompt":"a","max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`
			}
			began := time.Now()
			resp, got := post(t, url(s, "/v1/completions"), body)
			if !c.ok(resp, got) {
				t.Errorf("%s: %s\n%s", c.spec, resp.Status, got)
			}
			if took := time.Since(began); took < f.Delay {
				t.Errorf("took %v, want at least %v", took, f.Delay)
			}
		})
	}
}
