package kube

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
)

func TestReachingIntoAPod(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 plays the pod's server and is not installed")
	}
	w := newWorld(t)
	q := w.apply(w.query(yamlObject(t, w.ns, `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: any
    env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
    command: [sh, -c, "mkdir -p s && echo hello >s/index.html && exec python3 -m http.server --directory s --bind $POD_IP 8080"]
`)))
	if err := w.d.Wait(w.ctx(), deploy.Request{Query: q}, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code, err := w.d.Exec(w.ctx(), Command{Namespace: w.ns, Pod: "web", Container: "main", Args: []string{"sh", "-c", "cat; exit 3"}, Stdin: strings.NewReader("in"), Stdout: &out})
	if err != nil || code != 3 || out.String() != "in" {
		t.Errorf("exec: %d %q %v", code, out.String(), err)
	}
	// The server of the pod may still be starting; a forward, unlike this, ends with the first refusal.
	var text []byte
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if text, err = w.d.ProxyGet(w.ctx(), w.ns, "web", 8080, "/index.html", 100); err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || string(text) != "hello\n" {
		t.Fatalf("through the proxy: %q %v", text, err)
	}
	addr, stop, err := w.d.PortForward(w.ctx(), w.ns, "web", 8080)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	body := fetch(t, "http://"+addr+"/index.html")
	if body != "hello\n" {
		t.Errorf("through the port-forward: %q", body)
	}
	stop()
	stop()
	if _, err := http.Get("http://" + addr); err == nil {
		t.Error("the local port is open after stop")
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
