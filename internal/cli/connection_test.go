package cli_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mifbench/mifbench/internal/cli"
)

const connectionConfig = `
dataset "text" {
  path = "%[1]s/text.txt"
}
scenario "secured" {
  endpoint      = "%[2]s"
  model         = "deepseek-ai/DeepSeek-R1"
  api_key       = "the-key"
  headers       = { x-team = "perf" }
  dataset       = dataset.text
  input_tokens  = 20
  output_tokens = 5
  load {
    requests        = 20
    max_concurrency = 1
    request_rate    = 400
    overflow        = "drop"
  }
  connection {
    ca_file             = "%[1]s/ca.pem"
    cert_file           = "%[1]s/c.pem"
    key_file            = "%[1]s/k.pem"
    http2               = true
    first_token_timeout = "20s"
    %[3]s
  }
}
`

// The connection block reaches the load and the questions beside it: certificates, a client
// certificate, HTTP/2, the key; a request that is due while the cap is reached is dropped.
func TestRunFollowsItsConnection(t *testing.T) {
	u := newServeUser(t)
	u.env = []string{"MIFBENCH_PROMPT_CACHE=off"}
	var mu sync.Mutex
	keys := map[string]string{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys[r.URL.Path] = fmt.Sprint(r.Header.Get("Authorization"), " ", r.Header.Get("X-Team"), " ", len(r.TLS.PeerCertificates))
		mu.Unlock()
		u.proxy.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	cert, key := clientCertificate(t)
	for name, text := range map[string]string{
		"ca.pem": pemOf("CERTIFICATE", server.Certificate().Raw), "c.pem": cert, "k.pem": key,
		"text.txt": strings.Repeat("many different little words of a text that goes on for quite a while and says nothing ", 200),
	} {
		u.write(name, text)
	}
	run := func(more string) outcome {
		u.write("main.mif.hcl", fmt.Sprintf(connectionConfig, u.dir, server.URL, more))
		return u.run(cli.Env{Args: []string{"run", "--chdir", u.dir}})
	}
	o := run("")
	if o.code != 0 || len(o.load) == 0 || o.load[len(o.load)-1].proto != 2 {
		t.Fatalf("exit code %d, %d requests:\n%s", o.code, len(o.load), o.talk)
	}
	for _, path := range []string{"/tokenize", "/v1/completions"} {
		if keys[path] != "Bearer the-key perf 1" {
			t.Errorf("%s was asked with %q", path, keys[path])
		}
	}
	if strings.Contains(o.out, " 0 dropped") || !strings.Contains(o.out, " dropped") {
		t.Errorf("nothing was dropped:\n%s", o.out)
	}
	if err := os.RemoveAll(u.dir + "/runs"); err != nil {
		t.Fatal(err)
	}
	if o := run(`request_timeout = "1us"`); o.code != 1 || !strings.Contains(o.talk, "no request succeeded: timeout: not done within 1µs") {
		t.Errorf("request_timeout: exit code %d:\n%s", o.code, o.talk)
	}
	if o := run(`server_name = "elsewhere.example"`); o.code != 1 || !strings.Contains(o.talk, "elsewhere.example") {
		t.Errorf("server_name: exit code %d:\n%s", o.code, o.talk)
	}
}
