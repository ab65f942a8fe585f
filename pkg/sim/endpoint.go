package sim

import (
	"encoding/json"
	"net/http"
	"time"
)

// imitated is the version of vLLM whose answers are imitated; simulatedVersion is what
// /version says, since clients log it.
const (
	imitated         = "0.32.0"
	simulatedVersion = imitated + "+mifbench.simulated"
)

func (r *rank) json(c *conn, req *http.Request, v any) {
	c.answer(req, http.StatusOK, "application/json", marshal(v))
}

func (r *rank) health(c *conn, req *http.Request, _ []byte) {
	c.answer(req, http.StatusOK, "", nil)
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

// permission is what vLLM says of every model.
type permission struct {
	ID                 string  `json:"id"`
	Object             string  `json:"object"`
	Created            int64   `json:"created"`
	AllowCreateEngine  bool    `json:"allow_create_engine"`
	AllowSampling      bool    `json:"allow_sampling"`
	AllowLogprobs      bool    `json:"allow_logprobs"`
	AllowSearchIndices bool    `json:"allow_search_indices"`
	AllowView          bool    `json:"allow_view"`
	AllowFineTuning    bool    `json:"allow_fine_tuning"`
	Organization       string  `json:"organization"`
	Group              *string `json:"group"`
	IsBlocking         bool    `json:"is_blocking"`
}

func (r *rank) models(c *conn, req *http.Request, _ []byte) {
	m, now := r.srv.cfg.Model, time.Now().Unix()
	r.json(c, req, struct {
		Object string      `json:"object"`
		Data   []modelCard `json:"data"`
	}{"list", []modelCard{{
		ID: m, Object: "model", Created: now, OwnedBy: "vllm", Root: m, MaxModelLen: r.srv.model.MaxModelLen,
		Permission: []any{permission{
			ID: "modelperm-" + hex16(mix(r.srv.cfg.Seed)), Object: "model_permission", Created: now,
			AllowSampling: true, AllowLogprobs: true, AllowView: true, Organization: "*",
		}},
	}}})
}

func (r *rank) tokenize(c *conn, req *http.Request, body []byte) {
	var q genRequest
	if err := json.Unmarshal(body, &q); err != nil {
		c.fail(req, malformed(err))
		return
	}
	if q.Model != "" && q.Model != r.srv.cfg.Model {
		c.fail(req, unknownModel(q.Model, r.srv.cfg.Model))
		return
	}
	ids, n, apiErr := q.promptTokens(q.Messages != nil, true)
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
