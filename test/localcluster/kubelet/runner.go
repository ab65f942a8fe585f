package kubelet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runner runs one container, again and again as its restart policy says.
type runner struct {
	w       *worker
	pod     *corev1.Pod
	c       *corev1.Container
	init    bool
	policy  corev1.RestartPolicy
	volumes map[string]string
	up      chan struct{} // closed at the first start; may be nil
}

func shouldRestart(p corev1.RestartPolicy, code int32) bool {
	return p == corev1.RestartPolicyAlways || p == corev1.RestartPolicyOnFailure && code != 0
}

// loop returns the last exit code when the container will not be started again, or ctx ends.
func (r *runner) loop(ctx context.Context) int32 {
	k := r.w.k
	delay := time.Duration(0) // the first restart is immediate
	for attempt := int32(0); ; attempt++ {
		code, err := r.once(ctx, attempt)
		if err != nil { // not even begun: the configuration refers to what is not there
			if !pause(ctx, time.Second) {
				return 0
			}
			attempt--
			continue
		}
		if ctx.Err() != nil || !shouldRestart(r.policy, code) {
			r.w.change(r.init, r.c.Name, func(s *containerState) { s.finished = true })
			return code
		}
		if delay > 0 {
			r.backOff(delay)
		}
		if !pause(ctx, delay) {
			// Deleted while waiting: the last end is the end.
			return code
		}
		delay = min(max(2*delay, k.RestartBackoff), maxBackoff*k.RestartBackoff)
	}
}

func (r *runner) backOff(delay time.Duration) {
	msg := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", delay, r.c.Name, r.pod.Name, r.pod.Namespace, r.pod.UID)
	r.w.event(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", r.c.Name, r.pod.Name, r.pod.Namespace, r.pod.UID)
	r.w.change(r.init, r.c.Name, waiting("CrashLoopBackOff", msg))
}

// once starts the container and waits for its end. An error means that it could not be configured.
func (r *runner) once(ctx context.Context, attempt int32) (int32, error) {
	k := r.w.k
	rt, argv, m, err := r.prepare(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.w.event(corev1.EventTypeWarning, "Failed", "Error: %v", err)
			r.w.change(r.init, r.c.Name, waiting("CreateContainerConfigError", err.Error()))
		}
		return 0, err
	}
	log, err := createLog(k.logFile(r.pod.UID, r.c.Name, attempt), k.now)
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.close() }()
	r.started(rt, attempt)
	begun := k.now()
	code := r.body(ctx, m, argv, rt, log, attempt)
	r.ended(code, begun, attempt)
	return code, nil
}

// prepare resolves environment, mounts and command line.
func (r *runner) prepare(ctx context.Context) (environment, []string, mode, error) {
	k := r.w.k
	home, err := r.w.home(r.pod, r.c.Name)
	if err != nil {
		return environment{}, nil, nominal, err
	}
	vars, err := variables(r.pod, r.c, r.w.ip, k.nodes[r.pod.Spec.NodeName], k.lookup(ctx, r.pod.Namespace))
	if err != nil {
		return environment{}, nil, nominal, err
	}
	rt := environment{dir: home, mounts: containerMounts(r.c, r.volumes), env: append(hostEnv(k.Marker, home), "HOSTNAME="+r.pod.Name)}
	clusterEnv, err := k.clusterEnv(home, rt.mounts)
	if err != nil {
		return environment{}, nil, nominal, err
	}
	rt.env = append(rt.env, clusterEnv...)
	for _, v := range vars {
		rt.env = append(rt.env, v.Name+"="+k.names.rewrite(rt.mounts.rewrite(v.Value)))
	}
	m, argv := plan(r.pod, r.c, k.Engine, k.Runtimes, exec.LookPath)
	switch m {
	case engine:
		return rt, engineArgv(k.Engine, k.Wire, r.pod, r.w.ip), m, nil
	case contained:
		rt.env, err = r.containedEnv(home, rt.mounts, vars)
		return rt, expandArgs(argv, vars), m, err
	}
	return rt, k.names.rewriteAll(rt.mounts.rewriteAll(expandArgs(argv, vars))), m, nil
}

func (r *runner) started(rt environment, attempt int32) {
	w := r.w
	w.mu.Lock()
	w.runtimes[r.c.Name] = rt
	w.mu.Unlock()
	w.event(corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine", r.c.Image)
	w.event(corev1.EventTypeNormal, "Created", "Container created")
	w.event(corev1.EventTypeNormal, "Started", "Container started")
	w.change(r.init, r.c.Name, func(s *containerState) {
		if s.terminated != nil {
			s.last = s.terminated
		}
		s.restarts = attempt
		running(w.k.now())(s)
	})
	if r.up != nil && attempt == 0 {
		close(r.up)
	}
}

func (r *runner) ended(code int32, begun time.Time, attempt int32) {
	t := &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Completed", StartedAt: metav1.NewTime(begun), FinishedAt: metav1.NewTime(r.w.k.now()),
		ContainerID: containerID(r.pod, r.c.Name, attempt),
	}
	if code != 0 {
		t.Reason = "Error"
	}
	r.w.change(r.init, r.c.Name, func(s *containerState) {
		s.waiting, s.running, s.terminated, s.ready = nil, nil, t, false
	})
}

// body is the time between start and end; it returns the exit code.
func (r *runner) body(ctx context.Context, m mode, argv []string, rt environment, log *containerLog, attempt int32) int32 {
	if fault(r.pod) == FaultCrashLoop && !r.init {
		for _, l := range crashLines(r.c.Name, attempt) {
			log.line("stderr", []byte(l))
		}
		pause(ctx, r.w.k.ReadyDelay)
		return 1
	}
	if m == nominal {
		return r.nominal(ctx, log)
	}
	out, errs := log.stream("stdout"), log.stream("stderr")
	defer func() { _, _ = out.Close(), errs.Close() }()
	p, err := r.w.k.spawner.launch(command{argv: argv, env: rt.env, dir: r.workDir(rt), stdout: out, stderr: errs})
	if err != nil {
		log.line("stderr", []byte("localcluster: "+err.Error()))
		r.w.event(corev1.EventTypeWarning, "Failed", "Error: %v", err)
		return 128
	}
	pctx, stopProbe := context.WithCancel(ctx)
	defer stopProbe()
	go r.becomeReady(pctx, m)
	select {
	case <-p.done:
	case <-ctx.Done():
		r.w.event(corev1.EventTypeNormal, "Killing", "Stopping container %s", r.c.Name)
		p.terminate(r.w.gracePeriod(), r.w.gone)
	}
	return int32(p.code)
}

// workDir is the container's working directory where that is on a volume or exists here, else its home.
func (r *runner) workDir(rt environment) string {
	if dir := rt.mounts.rewrite(r.c.WorkingDir); dir != "" {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	return rt.dir
}

// nominal plays a container in which nothing runs. An init container is done at once.
func (r *runner) nominal(ctx context.Context, log *containerLog) int32 {
	log.line("stdout", []byte("localcluster: container "+r.c.Name+" is only said to be running, image "+r.c.Image))
	if r.init && !isSidecar(r.c) {
		return 0
	}
	r.becomeReady(ctx, nominal)
	<-ctx.Done()
	r.w.event(corev1.EventTypeNormal, "Killing", "Stopping container %s", r.c.Name)
	return 0
}

func (w *worker) gracePeriod() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.grace
}
