package bench

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

func failed(status record.Status, code int, text string) record.Record {
	return record.Record{Status: status, HTTPStatus: code, Error: text}
}

// TestInsistence: what a start-up explains is asked for again for a bounded time; everything else, and what
// does not pass, is the error.
func TestInsistence(t *testing.T) {
	unready := failed(record.HTTP, 503, "status 503: no endpoint picker")
	for name, c := range map[string]struct {
		answers []record.Record // one after the other, the last for ever
		want    record.Status
		asked   int
		took    time.Duration
		tries   string
		said    int
	}{
		"good at once":    {[]record.Record{{Status: record.OK}}, record.OK, 1, 0, "", 0},
		"starting":        {[]record.Record{failed(record.Dial, 0, "dial tcp 127.0.0.1:1: connect: connection refused"), unready, {Status: record.OK}}, record.OK, 3, 2 * time.Second, "; asked 3 times in 2s, this is the last answer", 1},
		"never":           {[]record.Record{unready}, record.HTTP, 31, 30 * time.Second, "; asked 31 times in 30s, this is the last answer", 3},
		"unknown model":   {[]record.Record{failed(record.HTTP, 404, "status 404: no such model")}, record.HTTP, 1, 0, "", 0},
		"too many":        {[]record.Record{failed(record.HTTP, 429, "status 429")}, record.HTTP, 1, 0, "", 0},
		"no such host":    {[]record.Record{failed(record.Dial, 0, "dial tcp: lookup x: no such host")}, record.Dial, 1, 0, "", 0},
		"broken":          {[]record.Record{failed(record.Reset, 0, "EOF")}, record.Reset, 1, 0, "", 0},
		"worse meanwhile": {[]record.Record{unready, failed(record.HTTP, 401, "status 401")}, record.HTTP, 2, time.Second, "; asked 2 times in 1s, this is the last answer", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, said, start := 0, 0, time.Now()
				n := insistence{end: start.Add(30 * time.Second), say: func(line string) {
					said++
					if !strings.Contains(line, "http://gateway") || !strings.Contains(line, "asking again for") {
						t.Errorf("said %q", line)
					}
				}}
				res, tries := n.ask(t.Context(), "http://gateway", func() client.Result {
					asked++
					return client.Result{Rec: c.answers[min(asked, len(c.answers))-1]}
				})
				if took := time.Since(start); res.Rec.Status != c.want || asked != c.asked || took != c.took || tries != c.tries || said != c.said {
					t.Errorf("%s after %d in %s%q, said %d times", res.Rec.Status, asked, took, tries, said)
				}
			})
		})
	}
}

// TestInsistenceEnds with the run, and there is none unless it is asked for.
func TestInsistenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan struct{})
		cancelled, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(2500 * time.Millisecond); close(stopped); cancel() }()
		for name, c := range map[string]struct {
			n     insistence
			ctx   context.Context
			asked int
		}{
			"not asked for": {insistence{end: time.Now()}, t.Context(), 1},
			"stopped":       {insistence{end: time.Now().Add(time.Minute), stop: stopped}, t.Context(), 3},
			"cancelled":     {insistence{end: time.Now().Add(time.Minute)}, cancelled, 3},
		} {
			asked := 0
			c.n.ask(c.ctx, "u", func() client.Result { asked++; return client.Result{Rec: failed(record.HTTP, 503, "status 503")} })
			if asked > c.asked {
				t.Errorf("%s: asked %d times", name, asked)
			}
		}
	})
}
