package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// remotePrefill does what the sidecar of a decode engine does: the same request
// with one output token and without streaming goes to the prefill rank, and when
// it is answered the KV cache counts as delivered after the transfer time.
func (r *rank) remotePrefill(g *group, st *stream, req *http.Request, peer string, body []byte) {
	if err := r.askPrefiller(r.srv.stop, req, peer, body, st.done); err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !st.over {
			st.c.respond(st.close, http.StatusBadGateway, "application/json", (&apiError{
				status: http.StatusBadGateway, kind: "BadGateway", msg: err.Error(),
			}).body())
			st.end()
		}
		return
	}
	st.begin()
	st.s.remote = true
	st.s.ready += r.srv.model.Transfer + r.srv.model.TransferPerToken*time.Duration(st.s.prompt)
	g.submit(st)
}

// askPrefiller posts the prefill request; gone aborts it.
func (r *rank) askPrefiller(ctx context.Context, req *http.Request, peer string, body []byte, gone <-chan struct{}) error {
	if host, _, more := strings.Cut(peer, ","); more {
		peer = strings.TrimSpace(host)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan struct{})
	defer close(finished)
	r.srv.tasks.Go(func() {
		select {
		case <-gone:
			cancel()
		case <-finished:
		}
	})
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+peer+req.URL.Path, bytes.NewReader(prefillBody(body)))
	if err != nil {
		return fmt.Errorf("prefiller %q of header x-prefiller-host-port: %w", peer, err)
	}
	out.Header.Set("Content-Type", "application/json")
	for _, h := range []string{"Authorization", "X-Request-Id"} {
		if v := req.Header.Get(h); v != "" {
			out.Header.Set(h, v)
		}
	}
	resp, err := r.srv.peers.Do(out)
	if err != nil {
		return fmt.Errorf("prefiller: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end below, or given up
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("prefiller %s: read answer: %w", peer, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("prefiller %s answered %s: %.200s", peer, resp.Status, answer)
	}
	return nil
}

// prefillBody is the request with one output token, not streamed, and the marks
// of vLLM's disaggregated prefill. The body was parsed before.
func prefillBody(body []byte) []byte {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		panic(err) // parseJob has accepted it as an object
	}
	delete(m, "stream_options")
	delete(m, "min_tokens")
	m["stream"] = json.RawMessage("false")
	m["max_tokens"] = json.RawMessage("1")
	if _, ok := m["max_completion_tokens"]; ok {
		m["max_completion_tokens"] = json.RawMessage("1")
	}
	m["kv_transfer_params"] = json.RawMessage(`{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was valid JSON
	}
	return out
}
