package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// Probed is one target's answer to the probe.
type Probed struct {
	URL   string        `json:"url"`
	Total time.Duration `json:"total"`
}

// probeLimit bounds the probe of one target: a loaded server may queue it.
const probeLimit = 2 * time.Minute

// probe sends each target one short request and returns an error for each that does
// not answer it with a token. Answers that may pass are asked for again for s.Insist, of all targets
// together.
func probe(ctx context.Context, s Scenario, t *client.Template) ([]Probed, error) {
	o := s.Client
	o.Clock, o.MaxConns, o.OnToken = client.NewClock(time.Now()), 1, nil
	o.Timeouts.Total = probeLimit
	if o.Timeouts.FirstByte <= 0 || o.Timeouts.FirstByte > probeLimit {
		o.Timeouts.FirstByte = probeLimit
	}
	c, err := client.New(o)
	if err != nil {
		return nil, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	defer c.Close()
	body, err := t.Body("Hello", nil, 1)
	if err != nil {
		return nil, err
	}
	var out []Probed
	var errs []error
	again := insistence{end: time.Now().Add(s.Insist), stop: s.Stop, say: s.Insisting}
	for i, url := range c.Targets() {
		res, tries := again.ask(ctx, url, func() (res client.Result) {
			c.Do(ctx, &client.Request{Body: body, MaxTokens: 1, Stream: !s.Params.NoStream, Target: i + 1}, &res)
			return res
		})
		if st := res.Rec.Status; st != record.OK && st != record.NoTokens {
			errs = append(errs, fmt.Errorf("probe of %s (model %q): %s: %s%s", url, s.Params.Model, st, res.Rec.Error, tries))
			continue
		}
		out = append(out, Probed{URL: url, Total: time.Duration(res.Rec.Done - res.Rec.Sent)})
	}
	return out, errors.Join(errs...)
}
