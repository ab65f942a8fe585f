package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

const (
	streamIdle     = 4 * time.Hour
	streamCreation = 30 * time.Second
)

// execProtocols are those of SPDY. v5 exists only over WebSocket: offering it here makes stream creation time out.
func execProtocols() []string {
	return []string{"v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"}
}

// handler serves the part of the kubelet's API that the API server uses.
func (k *Kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/containerLogs/{ns}/{pod}/{c}", k.serveLogs)
	mux.HandleFunc("/exec/{ns}/{pod}/{c}", k.serveExec)
	mux.HandleFunc("/exec/{ns}/{pod}/{uid}/{c}", k.serveExec)
	mux.HandleFunc("/portForward/{ns}/{pod}", k.servePortForward)
	mux.HandleFunc("/portForward/{ns}/{pod}/{uid}", k.servePortForward)
	return mux
}

func (k *Kubelet) serveLogs(w http.ResponseWriter, r *http.Request) {
	o, err := parseLogOptions(r.URL.Query(), k.now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, err := k.find(r.PathValue("ns"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	name := r.PathValue("c")
	run, err := pod.logRun(name, o.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	flush := func() {}
	if f, ok := w.(http.Flusher); ok {
		flush = f.Flush
	}
	ended := func() bool {
		st, _ := pod.container(name)
		select {
		case <-pod.gone:
			return true
		default:
			return st.restarts != run || st.running == nil
		}
	}
	if err := copyLog(r.Context(), w, flush, k.logFile(pod.seen().UID, name, run), o, ended); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// logRun says which run's log is asked for.
func (w *worker) logRun(name string, previous bool) (int32, error) {
	st, ok := w.container(name)
	switch {
	case !ok:
		return 0, fmt.Errorf("container %q not found in pod %q", name, w.name)
	case previous && st.last == nil && (st.restarts == 0 || st.terminated == nil):
		return 0, fmt.Errorf("previous terminated container %q in pod %q not found", name, w.name)
	case previous && st.waiting == nil:
		return st.restarts - 1, nil
	case previous:
		return st.restarts, nil // waiting for the next start: the run that ended last
	case st.waiting != nil && st.last == nil && (st.waiting.Reason == "ErrImagePull" || st.waiting.Reason == "ImagePullBackOff"):
		return 0, fmt.Errorf("container %q in pod %q is waiting to start: trying and failing to pull image", name, w.name)
	case st.waiting != nil && st.last == nil:
		return 0, fmt.Errorf("container %q in pod %q is waiting to start: %s", name, w.name, st.waiting.Reason)
	default:
		return st.restarts, nil
	}
}

func (k *Kubelet) serveExec(w http.ResponseWriter, r *http.Request) {
	o, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, err := k.find(r.PathValue("ns"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	name := r.PathValue("c")
	if st, ok := pod.container(name); !ok || st.running == nil {
		http.Error(w, fmt.Sprintf("container not found (%q)", name), http.StatusInternalServerError)
		return
	}
	remotecommand.ServeExec(w, r, execer{pod}, pod.name, "", name, r.URL.Query()["command"], o, streamIdle, streamCreation, execProtocols())
}

// execer runs commands in the containers of a pod.
type execer struct{ w *worker }

var _ remotecommand.Executor = execer{}

// ExecInContainer runs a command beside the container's process, with its environment and mounts. A terminal is not
// provided: with tty the streams are plain pipes.
func (e execer) ExecInContainer(ctx context.Context, _, _, container string, cmd []string, in io.Reader, out, errw io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if len(cmd) == 0 {
		return errors.New("no command given")
	}
	w := e.w
	w.mu.Lock()
	rt := w.runtimes[container]
	w.mu.Unlock()
	c := command{argv: w.k.names.rewriteAll(rt.mounts.rewriteAll(cmd)), env: rt.env, dir: rt.dir, stdin: in}
	if out != nil {
		c.stdout = out
	}
	if errw != nil {
		c.stderr = errw
	}
	p, err := w.k.spawner.launch(c)
	if errors.Is(err, exec.ErrNotFound) {
		if c.stderr != nil {
			_, _ = fmt.Fprintf(c.stderr, "exec: %q: executable file not found in $PATH\n", cmd[0])
		}
		return exitError{127}
	}
	if err != nil {
		return err
	}
	if code := p.wait(ctx); code != 0 {
		return exitError{code}
	}
	return nil
}

// exitError is how the streaming library learns of an exit code.
type exitError struct{ code int }

func (e exitError) Error() string   { return fmt.Sprintf("command terminated with exit code %d", e.code) }
func (e exitError) String() string  { return e.Error() }
func (e exitError) Exited() bool    { return true }
func (e exitError) ExitStatus() int { return e.code }

func (k *Kubelet) servePortForward(w http.ResponseWriter, r *http.Request) {
	o, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, err := k.find(r.PathValue("ns"), r.PathValue("pod"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	portforward.ServePortForward(w, r, forwarder{k.Wire, pod.ip}, pod.name, "", o, streamIdle, streamCreation, portforward.SupportedProtocols)
}

// forwarder connects to a pod.
type forwarder struct {
	wire address.Wire
	ip   string
}

var _ portforward.PortForwarder = forwarder{}

// PortForward copies in both directions until the pod's side has said all it has to say.
func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	c, err := f.wire.Dial(ctx, "tcp", net.JoinHostPort(f.ip, strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	go func() {
		_, _ = io.Copy(c, stream) // the client going away ends the other direction, too
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, c)
	return err
}
