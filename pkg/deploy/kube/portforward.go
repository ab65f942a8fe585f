package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // client-go's port-forward takes this type
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"

	"github.com/mifbench/mifbench/pkg/resource"
)

// PortForward opens a local port on 127.0.0.1 that leads to a pod's port through the API
// server. It ends with ctx or stop, which waits until the forwarder is gone, and by itself when
// the pod refuses a connection or goes: ask for another then.
func (d *Driver) PortForward(ctx context.Context, namespace, pod string, port int) (addr string, stop func(), err error) {
	id := resource.ID{Kind: "Pod", Namespace: namespace, Name: pod}
	dialer, err := d.forwardDialer(namespace, pod)
	if err != nil {
		return "", nil, d.explain("forward a port to", id, err)
	}
	ended, opened := make(chan struct{}), make(chan struct{})
	var problems bytes.Buffer
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, ended, opened, io.Discard, &problems)
	if err != nil {
		return "", nil, d.explain("forward a port to", id, err)
	}
	result := make(chan error, 1)
	var once sync.Once
	end := func() { once.Do(func() { close(ended) }) }
	go func() { result <- f.ForwardPorts() }()
	select {
	case <-opened:
	case err := <-result:
		return "", nil, d.explain("forward a port to", id, fmt.Errorf("port %d: %w", port, orClosed(err)))
	case <-ctx.Done():
		end()
		return "", nil, d.explain("forward a port to", id, errors.Join(ctx.Err(), <-result))
	}
	ports, err := f.GetPorts()
	if err != nil {
		end()
		return "", nil, d.explain("forward a port to", id, errors.Join(err, <-result))
	}
	release := context.AfterFunc(ctx, end)
	return "127.0.0.1:" + strconv.Itoa(int(ports[0].Local)), func() { release(); end(); result <- <-result }, nil
}

func orClosed(err error) error {
	if err == nil {
		return errors.New("the connection was closed")
	}
	return err
}

// forwardDialer prefers WebSockets and falls back to SPDY, which older servers and some proxies want.
func (d *Driver) forwardDialer(namespace, pod string) (httpstream.Dialer, error) {
	url := d.typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(d.config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	tunnel, err := portforward.NewSPDYOverWebsocketDialer(url, d.config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialer(tunnel, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// Command is one command to run in a container.
type Command struct {
	Namespace, Pod, Container string
	Args                      []string
	Stdin                     io.Reader
	Stdout, Stderr            io.Writer
}

// Exec runs a command and returns its exit code; the error is for commands that did not run.
func (d *Driver) Exec(ctx context.Context, c Command) (int, error) {
	id := resource.ID{Kind: "Pod", Namespace: c.Namespace, Name: c.Pod}
	req := d.typed.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.Namespace).Name(c.Pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: c.Container, Command: c.Args, Stdin: c.Stdin != nil, Stdout: c.Stdout != nil, Stderr: c.Stderr != nil,
		}, scheme.ParameterCodec)
	executor, err := newExecutor(d.config, req)
	if err != nil {
		return 0, d.explain("run a command in", id, err)
	}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr})
	var code exec.CodeExitError
	if errors.As(err, &code) {
		return code.Code, nil
	}
	if err != nil {
		return 0, d.explain("run a command in", id, err)
	}
	return 0, nil
}

func newExecutor(cfg *rest.Config, req *rest.Request) (remotecommand.Executor, error) {
	ws, err := remotecommand.NewWebSocketExecutor(cfg, http.MethodGet, req.URL().String())
	if err != nil {
		return nil, err
	}
	old, err := remotecommand.NewSPDYExecutor(cfg, http.MethodPost, req.URL())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(ws, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}

// ProxyGet fetches http://pod:port/path through the API server, at most limit bytes: for
// metrics and probes where pods are not reachable from here.
func (d *Driver) ProxyGet(ctx context.Context, namespace, pod string, port int, path string, limit int64) ([]byte, error) {
	stream, err := d.typed.CoreV1().RESTClient().Get().Namespace(namespace).Resource("pods").
		Name(pod + ":" + strconv.Itoa(port)).SubResource("proxy").Suffix(path).Stream(ctx)
	if err != nil {
		return nil, d.explain(fmt.Sprintf("read port %d, %s of", port, path), resource.ID{Kind: "Pod", Namespace: namespace, Name: pod}, err)
	}
	defer stream.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(io.LimitReader(stream, limit))
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s port %d %s: %w", namespace, pod, port, path, err)
	}
	return body, nil
}
