package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/cli"
)

// Certificates, HTTP/2 and client certificates reach the load and the questions beside it.
func TestServeFlagsOfTLS(t *testing.T) {
	u := newServeUser(t)
	server := httptest.NewUnstartedServer(u.proxy)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are wanted
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := u.write("ca.pem", pemOf("CERTIFICATE", server.Certificate().Raw))
	at := func(flags ...string) outcome { return u.serve(append([]string{"--base-url", server.URL}, flags...)...) }

	if o := at(); o.code != 1 || !strings.Contains(o.talk, "certificate signed by unknown authority") {
		t.Errorf("an unknown authority: exit code %d:\n%s", o.code, o.talk)
	}
	for name, flags := range map[string][]string{"--insecure": {"--insecure"}, "--ca-file": {"--ca-file", ca}} {
		if o := at(flags...); o.code != 0 || len(o.load) != 4 || o.load[0].proto != 1 {
			t.Errorf("%s: exit code %d:\n%s", name, o.code, o.talk)
		}
	}
	if o := at("--ca-file", ca, "--http2"); o.code != 0 || o.load[0].proto != 2 {
		t.Errorf("--http2: exit code %d:\n%s", o.code, o.talk)
	}
	if o := at("--ca-file", ca, "--tls-server-name", "elsewhere.example"); o.code != 1 || !strings.Contains(o.talk, "elsewhere.example") {
		t.Errorf("--tls-server-name: exit code %d:\n%s", o.code, o.talk)
	}

	server.TLS.ClientAuth = tls.RequireAnyClientCert
	if o := at("--ca-file", ca, "--model", "deepseek-ai/DeepSeek-R1"); o.code != 1 || !strings.Contains(o.talk, "certificate required") {
		t.Errorf("without a client certificate: exit code %d:\n%s", o.code, o.talk)
	}
	cert, key := clientCertificate(t)
	if o := at("--ca-file", ca, "--cert-file", u.write("c.pem", cert), "--key-file", u.write("k.pem", key)); o.code != 0 || len(o.load) != 4 {
		t.Errorf("with a client certificate: exit code %d:\n%s", o.code, o.talk)
	}
	for _, c := range []struct{ flags, want string }{
		{"--cert-file x", "needs both"},
		{"--ca-file /nowhere.pem", "/nowhere.pem"},
		{"--idle-timeout -1s", "must not be negative"},
	} {
		if o := at(strings.Fields(c.flags)...); o.code != 1 || !strings.Contains(o.talk, c.want) {
			t.Errorf("%s: exit code %d:\n%s", c.flags, o.code, o.talk)
		}
	}
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func clientCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "load"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	kd, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pemOf("CERTIFICATE", der), pemOf("EC PRIVATE KEY", kd)
}

// Timeouts end what hangs, as failures with their class, and the rest of the run goes on.
func TestServeFlagsOfTimeouts(t *testing.T) {
	u := newServeUser(t)
	o := u.serve("--first-token-timeout", "1us", "--num-prompts", "2")
	if o.code != 1 || !strings.Contains(o.talk, "no token within 1µs") {
		t.Errorf("--first-token-timeout: exit code %d:\n%s", o.code, o.talk)
	}
	o = u.serve("--request-timeout", "100ms", "--random-output-len", "3000", "--num-prompts", "2")
	if o.code != 1 || !strings.Contains(o.talk, "not done within 100ms") {
		t.Errorf("--request-timeout: exit code %d:\n%s", o.code, o.talk)
	}
}

// interruptAfter sends an interrupt once some requests have been answered.
func (u *serveUser) interruptAfter(requests int64) chan os.Signal {
	interrupts := make(chan os.Signal, 1)
	u.answered.Store(0)
	go func() {
		for u.answered.Load() < requests {
			time.Sleep(time.Millisecond)
		}
		interrupts <- syscall.SIGINT
	}()
	return interrupts
}

// An interrupt ends the run; what was measured is printed, written and marked.
func TestServeInterrupted(t *testing.T) {
	u := newServeUser(t)
	file := u.dir + "/r.json"
	long := func(flags ...string) []string {
		return append([]string{"bench", "serve", "--base-url", u.url, "--num-prompts", "3000", "--request-rate", "100", "--random-input-len", "20",
			"--random-output-len", "5", "--save-result", "--result-filename", file}, flags...)
	}
	o := u.run(cli.Env{Interrupts: u.interruptAfter(5), Args: long()})
	if o.code != 130 {
		t.Errorf("exit code %d:\n%s", o.code, o.talk)
	}
	inOrder(t, o.out, "Serving Benchmark Result", "Successful requests:", "Run ended early:                         PARTIAL")
	if r := u.object("r.json"); r["mifbench_partial"] != true || r["completed"].(float64) < 1 || r["completed"].(float64) > 2000 || r["num_prompts"] != 3000.0 {
		t.Errorf("result %v", r)
	}
	inOrder(t, o.talk, "interrupted: ", " of 3000 requests were sent")

	o = u.run(cli.Env{Interrupts: u.interruptAfter(5), Args: long("--warmup-time", "60", "--cooldown-time", "70")})
	if o.code != 130 || !strings.Contains(o.talk, "the figures are of all of it") {
		t.Errorf("before the window: exit code %d:\n%s", o.code, o.talk)
	}
	inOrder(t, o.out, "= Serving Benchmark Result =", "PARTIAL")

	interrupts := make(chan os.Signal, 1)
	interrupts <- syscall.SIGINT
	o = u.run(cli.Env{Interrupts: interrupts, Args: []string{
		"bench", "serve", "--port", "1", "--model", "m", "--ready-check-timeout-sec", "600", "--num-prompts", "3",
	}})
	if o.code != 130 || !strings.Contains(o.talk, "Waiting for the server") || !strings.Contains(o.talk, "nothing was measured") {
		t.Errorf("while the server is waited for: exit code %d:\n%s", o.code, o.talk)
	}
}

// The ready check waits for a server that is not there yet, and gives up in time.
func TestServeReadyCheck(t *testing.T) {
	u := newServeUser(t)
	o := u.run(cli.Env{Args: []string{"bench", "serve", "--port", "1", "--model", "m", "--ready-check-timeout-sec", "1"}})
	if o.code != 1 || !strings.Contains(o.talk, "no server within 1s") || !strings.Contains(o.talk, "connection refused") {
		t.Errorf("exit code %d:\n%s", o.code, o.talk)
	}
	o = u.serve("--model", "other", "--ready-check-timeout-sec", "1")
	if o.code != 1 || !strings.Contains(o.talk, "initial test run failed within 1s") || !strings.Contains(o.talk, "does not exist") {
		t.Errorf("exit code %d:\n%s", o.code, o.talk)
	}
}
