package sim

import (
	"encoding/json"
	"net/http"
	"time"
)

// simulatedVersion is what /version says; clients log it.
const simulatedVersion = "0.11.0+mifbench.simulated"

func (r *rank) json(c *conn, req *http.Request, v any) {
	c.answer(req, http.StatusOK, "application/json", marshal(v))
}

func (r *rank) health(c *conn, req *http.Request, _ []byte) {
	c.answer(req, http.StatusOK, "text/plain; charset=utf-8", nil)
}

func (r *rank) version(c *conn, req *http.Request, _ []byte) {
	r.json(c, req, map[string]string{"version": simulatedVersion})
}

type modelCard struct {
	ID          string  `json:"id"`
	Object      string  `json:"object"`
	Created     int64   `json:"created"`
	OwnedBy     string  `json:"owned_by"`
	Root        string  `json:"root"`
	Parent      *string `json:"parent"`
	MaxModelLen int     `json:"max_model_len"`
	Permission  []any   `json:"permission"`
}

func (r *rank) models(c *conn, req *http.Request, _ []byte) {
	m := r.srv.cfg.Model
	r.json(c, req, struct {
		Object string      `json:"object"`
		Data   []modelCard `json:"data"`
	}{"list", []modelCard{{
		ID: m, Object: "model", Created: time.Now().Unix(), OwnedBy: "vllm", Root: m,
		MaxModelLen: r.srv.model.MaxModelLen, Permission: []any{},
	}}})
}

func (r *rank) tokenize(c *conn, req *http.Request, body []byte) {
	var q genRequest
	if err := json.Unmarshal(body, &q); err != nil {
		c.fail(req, badRequest("%v", err))
		return
	}
	ids, n, apiErr := q.promptTokens(len(q.Messages) > 0, true)
	if apiErr != nil {
		c.fail(req, apiErr)
		return
	}
	r.json(c, req, struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []int    `json:"tokens"`
		TokenStrs   []string `json:"token_strs"`
	}{n, r.srv.model.MaxModelLen, ids, nil})
}

func (r *rank) resetPrefixCache(c *conn, req *http.Request, _ []byte) {
	for _, g := range r.groups {
		g.mu.Lock()
		if g.e.cache != nil {
			g.e.cache = newPrefixCache(r.srv.model.KVTokens / blockSize)
		}
		g.mu.Unlock()
	}
	c.answer(req, http.StatusOK, "text/plain; charset=utf-8", nil)
}
