package clustertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("export A='b'\\''c'\nexport D=''\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env, err := readEnv(file)
	if err != nil || env["A"] != "b'c" || env["D"] != "" {
		t.Fatalf("got %v, %v", env, err)
	}
}

func TestMissingBinarySaysHowToBuildIt(t *testing.T) {
	t.Setenv(BinaryVariable, filepath.Join(t.TempDir(), "none"))
	if _, err := binary(); !errors.Is(err, errNoBinary) || !strings.Contains(err.Error(), "make cluster-build") {
		t.Fatalf("got %v", err)
	}
}

func TestClusterThatCannotStartShowsItsLog(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "fake")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\necho out of luck >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(BinaryVariable, bin)
	if _, err := start(nil); err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Fatalf("got %v", err)
	}
}

// workload is a web server, of which the pod's address is the loopback twin.
const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 2
      containers:
        - name: main
          image: any
          command: [sh, -c, "echo started; trap 'exit 0' TERM; while :; do sleep 0.1; done"]
`

func TestClusterEndToEnd(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not installed")
	}
	var kubeconfig string
	t.Run("use", func(t *testing.T) {
		c := Start(t)
		kubeconfig = c.Kubeconfig
		k := kubectl{t, c}
		k.run(workload, "apply", "-f", "-")
		k.run("", "wait", "--for=condition=Available", "--timeout=60s", "deployment/web")
		if got := k.run("", "logs", "deployment/web"); !strings.Contains(got, "started") {
			t.Errorf("logs: %q", got)
		}
		if got := k.run("from here", "exec", "-i", "deployment/web", "--", "cat"); got != "from here" {
			t.Errorf("exec with stdin: %q", got)
		}
		err := k.command("", "exec", "deployment/web", "--", "sh", "-c", "exit 3").Run()
		var ee *exec.ExitError
		if !errors.As(err, &ee) || ee.ExitCode() != 3 {
			t.Errorf("exec: want exit code 3, got %v", err)
		}
		portForward(t, k)
		doomedPods(k)
		processesSeeTheCluster(t, k)
	})
	if kubeconfig == "" {
		t.Skip("no cluster")
	}
	if _, err := os.Stat(filepath.Dir(kubeconfig)); !os.IsNotExist(err) {
		t.Errorf("the cluster's folder is still there: %v", err)
	}
	marker := "LOCALCLUSTER_POD_OF=" + filepath.Dir(kubeconfig)
	if left := processesWith(t, marker); len(left) > 0 {
		t.Errorf("processes of pods are still there: %v", left)
	}
}

// portForward sends an HTTP request through a port-forward to a listener of this test on the pod's twin address.
func portForward(t *testing.T, k kubectl) {
	ip := k.run("", "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].status.podIP}")
	l, err := net.Listen("tcp", "127"+strings.TrimPrefix(ip, "10")+":8080")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
	defer func() { _ = srv.Close() }()
	go func() { _ = srv.Serve(l) }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "kubectl", "--kubeconfig", k.c.Kubeconfig, "port-forward", "deployment/web", ":8080")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscanf(line, "Forwarding from 127.0.0.1:%d", &port); err != nil {
		t.Fatalf("port-forward says %q", line)
	}
	u := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
	resp, err := http.Get(u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "hello" {
		t.Errorf("through the port-forward: %q, %v", body, err)
	}
}

const doomed = `
apiVersion: v1
kind: Pod
metadata: {name: pull, namespace: default, annotations: {localcluster.mifbench.dev/fault: image-pull}}
spec: {containers: [{name: main, image: registry.example/x:1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: crash, namespace: default, annotations: {localcluster.mifbench.dev/fault: crash-loop}}
spec: {containers: [{name: main, image: any}]}
---
apiVersion: v1
kind: Pod
metadata: {name: starved, namespace: default}
spec: {containers: [{name: main, image: any, resources: {limits: {amd.com/gpu: 9}}}]}
`

func doomedPods(k kubectl) {
	k.run(doomed, "apply", "-f", "-")
	waiting := "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}="
	k.run("", "wait", waiting+"ImagePullBackOff", "--timeout=30s", "pod/pull")
	k.run("", "wait", waiting+"CrashLoopBackOff", "--timeout=30s", "pod/crash")
	if got := k.run("", "logs", "--previous", "crash"); !strings.Contains(got, "no config.json found") {
		k.t.Errorf("log of the previous run: %q", got)
	}
	k.run("", "wait", `--for=jsonpath={.status.conditions[?(@.type=="PodScheduled")].reason}=Unschedulable`, "--timeout=30s", "pod/starved")
	k.run("", "wait", "--for=jsonpath={.reason}=Failed", "--timeout=30s", "event", "--field-selector", "involvedObject.name=pull,reason=Failed")
}

const client = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {target: "web.default.svc.cluster.local"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: client, namespace: default}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: any
          command: [sh, -c, "cat /etc/settings/target; echo; cat $(DIR)/target"]
          env: [{name: DIR, value: /etc/settings}]
          volumeMounts: [{name: v, mountPath: /etc/settings}]
      volumes: [{name: v, configMap: {name: settings}}]
`

// processesSeeTheCluster runs a Job to its end: mounts are where they should be, and the name of a Service has become an
// address that can be dialled.
func processesSeeTheCluster(t *testing.T, k kubectl) {
	k.run(client, "apply", "-f", "-")
	k.run("", "wait", "--for=condition=Complete", "--timeout=60s", "job/client")
	ip := k.run("", "get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
	twin := "127" + strings.TrimPrefix(ip, "10")
	if got := k.run("", "logs", "job/client"); got != twin+"\n"+twin+"\n" {
		t.Errorf("the job sees %q, want %s twice", got, twin)
	}
}

type kubectl struct {
	t *testing.T
	c *Cluster
}

func (k kubectl) command(stdin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(k.t.Context(), "kubectl", append([]string{"--kubeconfig", k.c.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

func (k kubectl) run(stdin string, args ...string) string {
	k.t.Helper()
	cmd := k.command(stdin, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		k.t.Fatalf("kubectl %v: %v\n%s\nlog of the cluster:\n%s", args, err, stderr.String(), k.c.Log())
	}
	return string(out)
}

func processesWith(t *testing.T, marker string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte(marker)) {
			out = append(out, f)
		}
	}
	return out
}
