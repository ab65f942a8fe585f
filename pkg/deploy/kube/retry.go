package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// attempts and firstPause bound the retries of one idempotent call.
const (
	attempts   = 4
	firstPause = 100 * time.Millisecond
)

// callLimit bounds one call, the client's own retries included. An API server gives up a
// request after 60 s and a webhook after 30: whoever is silent for longer has gone.
const callLimit = 75 * time.Second

// errSilent is a call that got no answer in time.
var errSilent = errors.New("no good answer")

// retry repeats an idempotent call whose failure says nothing about the request itself:
// a cut connection, an overloaded or restarting server. (429 and 503 with Retry-After are
// already retried by the client below, and so are reads whose connection was cut.)
func (d *Driver) retry(ctx context.Context, call func(context.Context) error) error {
	return d.retryIf(ctx, call, func(err error) bool { return overloaded(err) || isCut(err) })
}

// retryRead is retry for calls of which the client below repeats those whose connection was cut,
// for ten seconds.
func (d *Driver) retryRead(ctx context.Context, call func(context.Context) error) error {
	return d.retryIf(ctx, call, func(err error) bool { return overloaded(err) || isTorn(err) })
}

func (d *Driver) retryIf(ctx context.Context, call func(context.Context) error, again func(error) bool) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := d.once(ctx, call)
		if err == nil || n == attempts || ctx.Err() != nil || !again(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 3
	}
}

// once makes a call and bounds it: a server that accepts and never answers must not hang a plan.
func (d *Driver) once(ctx context.Context, call func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	last := &lastAnswer{}
	err := call(context.WithValue(bounded, answerKey{}, last))
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return fmt.Errorf("%w within %s%s (%v)", errSilent, d.limit, last, err) //nolint:errorlint // its deadline is not the caller's
	}
	return err
}

// lastAnswer is the newest HTTP answer of a call that the client below repeats by itself: a server
// that says 429 until the time is over has not been silent.
type lastAnswer struct {
	mu   sync.Mutex
	text string
}

type answerKey struct{}

// String is a clause for the error, empty when there was no answer.
func (a *lastAnswer) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text
}

func (a *lastAnswer) note(resp *http.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = "; the last one was " + resp.Status
	if after := resp.Header.Get("Retry-After"); after != "" {
		a.text += ", to come back after " + after + " s"
	}
}

// noteAnswers is the transport that fills lastAnswer.
func noteAnswers(next http.RoundTripper) http.RoundTripper { return noting{next} }

type noting struct{ next http.RoundTripper }

// RoundTrip passes the request on.
func (n noting) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(r)
	if last, ok := r.Context().Value(answerKey{}).(*lastAnswer); ok && err == nil && resp.StatusCode >= http.StatusBadRequest {
		last.note(resp)
	}
	return resp, err
}

// WrappedRoundTripper lets the client find the transport below.
func (n noting) WrappedRoundTripper() http.RoundTripper { return n.next }
