// Package vllm_test holds the simulator and the client to a real vLLM: run.sh starts one
// on the CPU, with a tiny model of random weights. Without it the tests skip.
package vllm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/sim"
)

const (
	completions = "/v1/completions"
	chats       = "/v1/chat/completions"
	// only "Hello" and "," may come: no special tokens, no halves of characters.
	text     = `"model":"tiny","prompt":"Once upon a time","max_tokens":3,"ignore_eos":true,"allowed_token_ids":[9707,11]`
	chat     = `"model":"tiny","messages":[{"role":"user","content":"Hello there"}],"max_completion_tokens":3,"ignore_eos":true,"allowed_token_ids":[9707,11]`
	silent   = `,"chat_template_kwargs":{"enable_thinking":false}`
	stream   = `,"stream":true`
	usage    = stream + `,"stream_options":{"include_usage":true}`
	eachTime = stream + `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
)

// calls are the requests that both servers must answer alike.
func calls() []call {
	post := func(name, path, body string) call { return call{name: name, path: path, body: "{" + body + "}"} }
	get := func(name, path string) call { return call{name: name, method: "GET", path: path} }
	return []call{
		post("completions", completions, text),
		post("completions-stream", completions, text+stream),
		post("completions-usage", completions, text+usage),
		post("completions-continuous-usage", completions, text+eachTime),
		post("completions-token-ids", completions, `"prompt":[1,2,3,4,5],"max_tokens":2,"ignore_eos":true`),
		post("completions-too-long-output", completions, `"prompt":[`+strings.Repeat("9,", 2039)+`9],"max_tokens":100,"ignore_eos":true`),
		post("completions-stop-reason", completions, text+`,"stop":["zzz"]`+stream),
		post("chat", chats, chat+silent),
		post("chat-stream", chats, chat+silent+stream),
		post("chat-usage", chats, chat+silent+usage),
		post("chat-continuous-usage", chats, chat+silent+eachTime),
		post("error-max-tokens-over-context", completions, `"prompt":"a b c","max_tokens":4000`),
		post("error-chat-max-tokens-over-context", chats, `"messages":[{"role":"user","content":"hi"}],"max_tokens":4000`),
		post("error-prompt-over-context", completions, `"prompt":"`+strings.Repeat("a ", 2100)+`","max_tokens":1`),
		post("error-model", completions, `"model":"other","prompt":"a"`),
		post("error-no-prompt", completions, ``),
		post("error-empty-prompt", completions, `"prompt":"","max_tokens":5`),
		post("error-empty-ids", completions, `"prompt":[],"max_tokens":5`),
		post("error-no-messages", chats, ``),
		post("error-empty-messages", chats, `"messages":[]`),
		post("error-stream-options", completions, text+`,"stream_options":{"include_usage":true}`),
		post("error-max-tokens", completions, `"prompt":"a","max_tokens":0`),
		post("error-max-tokens-type", completions, `"prompt":"a","max_tokens":"x"`),
		post("error-min-tokens", completions, `"prompt":"a","max_tokens":5,"min_tokens":7`),
		post("error-min-tokens-negative", completions, `"prompt":"a","max_tokens":5,"min_tokens":-1`),
		post("error-n", completions, `"prompt":"a","n":0`),
		post("error-temperature", completions, `"prompt":"a","temperature":9`),
		{name: "error-json", path: completions, body: `{"prompt":`},
		{name: "error-no-key", path: completions, body: "{" + text + "}", key: "-"},
		{name: "error-wrong-key", path: completions, body: "{" + text + "}", key: "x"},
		get("error-method", completions),
		post("error-path", "/v2/nothing", ``),
		post("tokenize", "/tokenize", `"prompt":"Hello, extraordinary  world!"`),
		post("tokenize-chat", "/tokenize", `"messages":[{"role":"user","content":"hi"}]`),
		post("tokenize-model", "/tokenize", `"model":"x","prompt":"a"`),
		post("detokenize", "/detokenize", `"tokens":[9707]`),
		get("models", "/v1/models"),
		get("version", "/version"),
		get("health", "/health"),
		get("ping", "/ping"),
	}
}

// exact are the answers whose messages must be the same, too; %d stands for numbers.
var exact = regexp.MustCompile(`^error-(max|min|prompt|model|no|empty|stream|wrong|method|path)`)

// differences are the known ones, with their reason.
var differences = map[string]string{
	"detokenize":            "the simulator has no vocabulary",
	"error-temperature":     "the simulator does not sample",
	"error-max-tokens-type": "the validator's own words",
}

// The simulator answers as vLLM does: status, content type, members of each object in
// their order, events of a stream, and errors to the word.
func TestSimulatorAnswersAsVLLM(t *testing.T) {
	theirs, ours := realURL(t), simulator(t, nil)
	for _, c := range calls() {
		t.Run(c.name, func(t *testing.T) {
			want, body := ask(t, c, theirs)
			got, mine := ask(t, c, ours)
			withoutParser(want.Lines)
			d := cmp.Diff(want, got)
			if d == "" && exact.MatchString(c.name) {
				d = cmp.Diff(message(body), message(mine))
			}
			why, known := differences[c.name]
			switch {
			case d != "" && !known:
				t.Errorf("(-vLLM +simulator):\n%s\nvLLM:      %.700s\nsimulator: %.700s", d, body, mine)
			case d != "":
				t.Logf("differs, as known: %s", why)
			case known:
				t.Errorf("no difference any more; it is listed as: %s", why)
			}
		})
	}
}

// withoutParser makes the shape of answers that of a server without a reasoning parser,
// which the simulator is here: it tells no number of reasoning tokens, in the closing
// usage event not even that there is none.
func withoutParser(lines []string) {
	const counts = "completion_tokens_details:{reasoning_tokens:number}"
	for i, l := range lines {
		if strings.Contains(l, "choices:[],usage:") {
			lines[i] = strings.ReplaceAll(l, ","+counts, "")
		} else {
			lines[i] = strings.ReplaceAll(l, counts, "completion_tokens_details:null")
		}
	}
}

func TestSimulatorReasonsAsVLLM(t *testing.T) {
	theirs, ours := realURL(t), simulator(t, func(c *sim.Config) { c.ReasoningTokens = 3 })
	for name, more := range map[string]string{"whole": "", "stream": stream, "usage": usage} {
		c := call{name: name, path: chats, body: "{" + chat + more + "}"}
		want, body := ask(t, c, theirs)
		got, mine := ask(t, c, ours)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-vLLM +simulator):\n%s\nvLLM:      %.700s\nsimulator: %.700s", name, d, body, mine)
		}
	}
}

func ask(t *testing.T, c call, url string) (answer, []byte) {
	t.Helper()
	status, head, body := c.do(t, url)
	a, err := reduce(status, head.Get("Content-Type"), body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return a, body
}

func message(body []byte) string {
	var e struct {
		Error  json.RawMessage
		Detail string
	}
	_ = json.Unmarshal(body, &e) // an empty message then
	var m struct{ Message string }
	if json.Unmarshal(e.Error, &m) == nil {
		return m.Message
	}
	return string(e.Error) + e.Detail
}

// recorded are the streams that the client's conformance test keeps.
func recorded() []call {
	held := `"prompt":"a","max_tokens":10,"ignore_eos":true,"allowed_token_ids":[%s],"seed":%d`
	return []call{
		{name: "completions", path: completions, body: "{" + text + usage + "}"},
		{name: "completions-no-usage", path: completions, body: "{" + text + stream + "}"},
		{name: "continuous-usage", path: completions, body: "{" + text + eachTime + "}"},
		{name: "chat", path: chats, body: "{" + chat + silent + usage + "}"},
		{name: "chat-reasoning", path: chats, body: "{" + chat + usage + "}"},
		{name: "chat-continuous-usage", path: chats, body: "{" + chat + silent + eachTime + "}"},
		// Single bytes: C3, A9 (together é) and "Hello". Text comes when a character is whole,
		// that of several tokens at once.
		{name: "bytes", path: completions, body: "{" + fmt.Sprintf(held, "127,102,9707", 6) + usage + "}"},
		// Tokens that have no text, special ones, among "Hello" and ",".
		{name: "special-tokens", path: completions, body: "{" + fmt.Sprintf(held, "151645,9707,11", 2) + usage + "}"},
		{name: "end-at-once", path: completions, body: `{"prompt":"a","max_tokens":6,"allowed_token_ids":[151645]` + usage + "}"},
		{name: "logprobs", path: completions, body: "{" + text + `,"logprobs":2` + usage + "}"},
		{name: "two-choices", path: completions, body: "{" + text + `,"n":2` + usage + "}"},
		{name: "stop", path: completions, body: "{" + text + `,"stop":[","],"seed":6` + usage + "}"},
	}
}

func TestCapture(t *testing.T) {
	url := realURL(t)
	if !*capture {
		t.Skip("-capture rewrites the recorded streams")
	}
	for _, c := range recorded() {
		status, _, body := c.do(t, url)
		if status != 200 {
			t.Errorf("%s: status %d: %s", c.name, status, body)
			continue
		}
		path := filepath.Join("..", "..", "pkg", "bench", "client", "testdata", "streams", "vllm-0.32-"+c.name+".sse")
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Error(err)
		}
	}
}
