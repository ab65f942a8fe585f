package sim

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// pair is a decode server and its prefill peer.
func pair(t *testing.T, change func(*Config)) (prefill, decode *Server) {
	t.Helper()
	with := func(role Role) func(*Config) {
		return func(c *Config) {
			c.Role = role
			if change != nil {
				change(c)
			}
		}
	}
	return start(t, with(RolePrefill)), start(t, with(RoleDecode))
}

const decodeBody = `{"prompt":"some words here","max_tokens":5,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`

func TestPrefillThenDecode(t *testing.T) {
	prefill, decode := pair(t, nil)
	resp, body := post(t, url(decode, "/v1/completions"), decodeBody, "X-Prefiller-Host-Port", prefill.Addr().String())
	if resp.StatusCode != http.StatusOK || strings.Count(body, "data: ") != 7 || !strings.Contains(body, `"completion_tokens":5`) {
		t.Errorf("%s\n%s", resp.Status, body)
	}
	for _, c := range []struct {
		server    *Server
		generated float64
	}{{prefill, 1}, {decode, 5}} {
		eventually(t, "both engines have counted", func() bool {
			_, m := get(t, url(c.server, "/metrics"))
			return value(t, m, "vllm:generation_tokens_total") == c.generated && value(t, m, "vllm:prompt_tokens_total") == 3
		})
	}
}

// TestPrefillTimeIsInTTFT: the decode server has the prefill server's queue and
// prefill before its own first token.
func TestPrefillTimeIsInTTFT(t *testing.T) {
	prefill, decode := pair(t, func(c *Config) {
		if c.ITL = time.Millisecond; c.Role == RolePrefill {
			c.ITL = 80 * time.Millisecond
		}
	})
	began := time.Now()
	post(t, url(decode, "/v1/completions"), decodeBody, "X-Prefiller-Host-Port", prefill.Addr().String())
	if took := time.Since(began); took < 80*time.Millisecond {
		t.Errorf("took %v, less than the prefill", took)
	}
}

func TestPrefillServerAnswersOneToken(t *testing.T) {
	prefill, _ := pair(t, nil)
	_, body := post(t, url(prefill, "/v1/completions"),
		`{"prompt":"a b","max_tokens":5,"ignore_eos":true,"kv_transfer_params":{"do_remote_decode":true}}`)
	if !strings.Contains(body, `"completion_tokens":1`) || !strings.Contains(body, `"do_remote_prefill":true`) {
		t.Error(body)
	}
}

func TestDecodeWithoutPrefillerDoesBoth(t *testing.T) {
	_, decode := pair(t, nil)
	if _, body := post(t, url(decode, "/v1/completions"), decodeBody); !strings.Contains(body, `"completion_tokens":5`) {
		t.Error(body)
	}
}

func TestPrefillerDown(t *testing.T) {
	_, decode := pair(t, nil)
	resp, body := post(t, url(decode, "/v1/completions"), decodeBody, "X-Prefiller-Host-Port", "127.0.0.1:1")
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "127.0.0.1:1") {
		t.Errorf("%s %s", resp.Status, body)
	}
	if got := decode.busy(); got {
		t.Error("the failed request is still in the engine")
	}
}

func TestPrefillerRefuses(t *testing.T) {
	prefill, decode := pair(t, func(c *Config) {
		if c.Role == RolePrefill {
			c.Faults = []Fault{{Kind: fault5xx, Rate: 1, N: 503}}
		}
	})
	resp, body := post(t, url(decode, "/v1/completions"), decodeBody, "X-Prefiller-Host-Port", prefill.Addr().String())
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "503") {
		t.Errorf("%s %s", resp.Status, body)
	}
}
