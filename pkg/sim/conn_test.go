package sim

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// raw sends text on a fresh connection and returns all that comes until its end.
func raw(t *testing.T, s *Server, text string) string {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRawHTTP(t *testing.T) {
	const body = `{"prompt":"a","max_tokens":2,"ignore_eos":true,"stream":true}`
	cases := []struct{ name, give, want string }{
		{"HTTP/1.0 gets no chunks", fmt.Sprintf("POST /v1/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
			`(?s)^HTTP/1\.1 200 OK\r\n.*connection: close\r\n\r\ndata: .*data: \[DONE\]\n\n$`},
		{"a chunked request body", fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
			`(?s)^HTTP/1\.1 200 OK\r\n.*transfer-encoding: chunked.*\r\n0\r\n\r\n$`},
		{"expectation", fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", len(body), body),
			`(?s)^HTTP/1\.1 100 Continue\r\n\r\nHTTP/1\.1 200 OK\r\n`},
		{"not HTTP", "hello\r\n\r\n", `(?s)^HTTP/1\.1 400 Bad Request\r\n.*connection: close\r\n.*Invalid HTTP request`},
		{"an error and close", "POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
			`(?s)^HTTP/1\.1 400 Bad Request\r\n.*BadRequestError`},
	}
	s := start(t, nil)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := raw(t, s, c.give); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestRequestIDCannotBreakTheJSON(t *testing.T) {
	s := start(t, nil)
	resp, body := post(t, url(s, "/v1/completions"), `{"prompt":"a","max_tokens":1}`, "X-Request-Id", `a"b\c`)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"id":"cmpl-a\"b\\c"`) {
		t.Error(body)
	}
}

func FuzzParseJob(f *testing.F) {
	f.Add([]byte(`{"prompt":"a","max_tokens":3,"stop":["x"],"stream":true}`), false)
	f.Add([]byte(`{"prompt":"a b","max_tokens":9223372036854775807}`), false)
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"text":"a"}]}],"min_tokens":1}`), true)
	s := &Server{cfg: DefaultConfig()}
	s.model = s.cfg.engineModel()
	s.model.MaxModelLen = 1000
	f.Fuzz(func(t *testing.T, body []byte, chat bool) {
		j, apiErr := s.parseJob(body, chat, 1)
		if (j == nil) == (apiErr == nil) {
			t.Fatal("neither or both of job and error")
		}
		if j != nil && (j.prompt < 1 || j.max < 1 || j.max > 1000-j.prompt) {
			t.Fatalf("%+v", j)
		}
	})
}
