package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

func TestBody(t *testing.T) {
	cases := []struct {
		name   string
		api    client.API
		params client.Params
		text   string
		ids    []int32
		want   string
	}{
		{"completions", client.Completions, client.Params{Model: "m"}, "a <b> \"c\"\n", nil, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"prompt":"a <b> \"c\"\n","max_tokens":5}`},
		{"token ids", client.Completions, client.Params{Model: "m", NoUsage: true, IgnoreEOS: true}, "", []int32{1, 20}, `{"model":"m","ignore_eos":true,"stream":true,"prompt":[1,20],"max_tokens":5}`},
		{"chat", client.Chat, client.Params{Model: "m", NoStream: true}, "hi", nil, `{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":5}`},
		{"the extra body wins", client.Completions, client.Params{Model: "m", NoStream: true, Sampling: map[string]any{"temperature": 0, "top_p": 0.5}, ExtraBody: map[string]any{"temperature": 1, "max_tokens": 9}}, "x", nil, `{"model":"m","max_tokens":9,"stream":false,"temperature":1,"top_p":0.5,"prompt":"x"}`},
		{"counts in every chunk", client.Completions, client.Params{Model: "m", ContinuousUsage: true}, "x", nil, `{"model":"m","stream":true,"stream_options":{"continuous_usage_stats":true,"include_usage":true},"prompt":"x","max_tokens":5}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tpl, err := client.NewTemplate(c.api, c.params)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tpl.Body(c.text, c.ids, 5)
			if err != nil || string(got) != c.want || !json.Valid(got) {
				t.Errorf("body %s\nwant %s (%v)", got, c.want, err)
			}
		})
	}
}

func TestBadBodies(t *testing.T) {
	for _, c := range []struct {
		p    client.Params
		api  client.API
		want string
	}{
		{client.Params{}, client.Chat, "no model"},
		{client.Params{Model: "m"}, "embeddings", "is not one of"},
		{client.Params{Model: "m", ExtraBody: map[string]any{"prompt": 1}}, client.Chat, "comes from the dataset"},
		{client.Params{Model: "m", Sampling: map[string]any{"x": make(chan int)}}, client.Chat, `field "x"`},
	} {
		if _, err := client.NewTemplate(c.api, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	tpl, err := client.NewTemplate(client.Chat, client.Params{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tpl.Body("", []int32{1}, 1); err == nil {
		t.Error("chat took token ids")
	}
}

func TestNotStreamed(t *testing.T) {
	chat := `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"a b c","reasoning_content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}`
	for _, tr := range transports() {
		for _, streamAsked := range []bool{false, true} { // some servers ignore "stream"
			s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step {
				steps := benchtest.Status(200, chat)
				steps[0].Wait = 20 * time.Millisecond
				return steps
			})
			c := newClient(t, s.URL, func(o *client.Options) { o.Transport, o.API = tr, client.Chat })
			var res client.Result
			c.Do(context.Background(), &client.Request{Body: []byte(`{}`), MaxTokens: 9, Stream: streamAsked}, &res)
			r := res.Record(nil)
			if r.Status != record.OK || len(r.Events) != 1 || r.Events[0].Tokens != 9 || r.UsagePrompt != 3 || r.FinishReason != "length" || r.Events[0].At-r.Sent < 15e6 {
				t.Errorf("%s, stream %v: %+v", tr, streamAsked, r)
			}
			if got := s.Requests()[0].Path; got != "/v1/chat/completions" {
				t.Errorf("path %s", got)
			}
		}
	}
}
