package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

const (
	// insistPause is the time between two probes of a target that is starting.
	insistPause = time.Second
	// insistNews is how often it is said what is waited for.
	insistNews = 10 * time.Second
)

// insistence repeats probes until end: a scheduler may call itself ready a moment before it listens,
// and a proxy answers for it meanwhile.
type insistence struct {
	end  time.Time
	stop <-chan struct{}
	say  func(string)
}

// ask probes until the answer is good, will not get better, or the time is over. tries says how often and
// how long it was asked, when more than once: a clause for the error.
func (n insistence) ask(ctx context.Context, url string, try func() client.Result) (res client.Result, tries string) {
	start := time.Now()
	said := time.Time{}
	for count := 1; ; count++ {
		res = try()
		took := time.Since(start).Round(time.Second)
		if count > 1 {
			tries = fmt.Sprintf("; asked %d times in %s, this is the last answer", count, took)
		}
		if !passing(&res.Rec) || time.Until(n.end) < insistPause || !n.rest(ctx) {
			return res, tries
		}
		if n.say != nil && time.Since(said) >= insistNews {
			said = time.Now()
			n.say(fmt.Sprintf("%s is not there yet (%s); asking again for %s", url, res.Rec.Error, time.Until(n.end).Round(time.Second)))
		}
	}
}

// rest pauses; false when the run is to end.
func (n insistence) rest(ctx context.Context) bool {
	t := time.NewTimer(insistPause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-n.stop:
		return false
	case <-t.C:
		return true
	}
}

// passing tells a failure that a server's start-up explains.
func passing(r *record.Record) bool {
	starting := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return r.Status == record.HTTP && slices.Contains(starting, r.HTTPStatus) ||
		r.Status == record.Dial && strings.Contains(r.Error, syscall.ECONNREFUSED.Error())
}
