package cli

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// serving is one execution of bench serve.
type serving struct {
	app    *app
	flags  *serveFlags
	base   string // base URL, without the path of the API
	params client.Params
	source dataset.Source
	// isl and osl are the lengths of prompts and answers, 0 where each has its own.
	isl, osl int
	offsets  []time.Duration // of a trace
	tls      *tls.Config     // of the questions beside the load
}

// target finds the server and the model.
func (s *serving) target(ctx context.Context) error {
	f := s.flags
	var err error
	if s.tls, err = f.tls.Config(); err != nil {
		return err
	}
	s.base = f.baseURL
	if s.base == "" {
		s.base = "http://" + net.JoinHostPort(f.host, strconv.Itoa(f.port))
	}
	if err := s.reachable(ctx); err != nil {
		return err
	}
	if f.model == "" {
		name, err := s.firstModel(ctx)
		if err != nil {
			return err
		}
		f.model = name
		s.app.say("Model: %s, the first that the server lists", name)
	}
	if f.idPrefix == "" && !f.given("request-id-prefix") {
		b := make([]byte, 4)
		rand.Read(b)
		f.idPrefix = "bench-" + hex.EncodeToString(b) + "-"
	}
	s.params, err = f.body()
	return err
}

// reachable waits for the server to answer at all, as long as --ready-check-timeout-sec
// allows: it is asked for models and token counts before the ready check's own request.
func (s *serving) reachable(ctx context.Context) error {
	limit := seconds(s.flags.readyTimeout)
	for over := time.Now().Add(limit); limit > 0; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/v1/models", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := s.http().Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		if time.Now().Add(readyEvery).After(over) {
			return fmt.Errorf("no server within %v: %w", limit, err)
		}
		s.app.say("Waiting for the server: %v", err)
		if err := s.pause(); err != nil {
			return err
		}
	}
	return nil
}

// pause waits between two checks, unless the user ends the waiting.
func (s *serving) pause() error {
	select {
	case <-s.app.soft.Done():
		return s.app.soft.Err()
	case <-time.After(readyEvery):
		return nil
	}
}

// headers are those of --header; later ones win.
func (s *serving) headers() http.Header {
	h := http.Header{}
	list, _ := pairs("header", "=", s.flags.headers)
	for _, kv := range list {
		h.Set(kv[0], kv[1])
	}
	return h
}

func (s *serving) options() client.Options {
	return client.Options{
		BaseURLs: []string{s.base}, API: s.flags.api(), Path: s.flags.endpoint, APIKey: s.app.env.lookup("OPENAI_API_KEY"),
		Headers: s.headers(), TLS: s.flags.tls, HTTP2: s.flags.http2,
		ProxyFromEnv: s.flags.proxy, Timeouts: s.flags.timeouts,
	}
}

// http is a client for the questions beside the load.
func (s *serving) http() *http.Client { return sideClient(s.options(), s.tls) }

// firstModel asks the server for its models, as upstream does without --model.
func (s *serving) firstModel(ctx context.Context) (string, error) {
	url := s.base + "/v1/models"
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("no --model was given and GET %s did not tell one: %w", url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fail(err)
	}
	resp, err := s.http().Do(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("it answered %s", resp.Status))
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return fail(err)
	}
	if len(list.Data) == 0 || list.Data[0].ID == "" {
		return fail(fmt.Errorf("it lists no model"))
	}
	return list.Data[0].ID, nil
}

// scenario is the load. Upstream sends nothing before it unless asked to, so bench's own
// probe is left out.
func (s *serving) scenario() bench.Scenario {
	f := s.flags
	return bench.Scenario{
		Name: f.scenarioName(), Client: s.options(), Params: s.params, Source: s.source, Arrival: f.arrival(s.offsets),
		MaxConcurrency: f.concurrency, OutputTokens: s.osl, RequestIDPrefix: f.idPrefix, SkipProbe: true,
	}
}

func (f *serveFlags) scenarioName() string {
	if f.label != "" {
		return f.label
	}
	return f.dataset
}
