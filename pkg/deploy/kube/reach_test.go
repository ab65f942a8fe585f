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
	addr, stop, err := w.d.PortForward(w.ctx(), w.ns, "web", 8080)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	body := fetch(t, "http://"+addr+"/index.html")
	if body != "hello\n" {
		t.Errorf("through the port-forward: %q", body)
	}
	text, err := w.d.ProxyGet(w.ctx(), w.ns, "web", 8080, "/index.html", 100)
	if err != nil || string(text) != "hello\n" {
		t.Errorf("through the proxy: %q %v", text, err)
	}
	stop()
	stop()
	if _, err := http.Get("http://" + addr); err == nil {
		t.Error("the local port is open after stop")
	}
}

// fetch tries for a while: the server of the pod may still be starting.
func fetch(t *testing.T, url string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		res, err := http.Get(url)
		if err == nil {
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
