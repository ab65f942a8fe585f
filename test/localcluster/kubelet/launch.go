package kubelet

import (
	"fmt"
	"net"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

const (
	// RoleLabel marks the pods of an inference engine; its value is the role.
	RoleLabel = "mif.moreh.io/role"
	// ModelAnnotation overrides the served model name that is otherwise read from the pod's command, arguments and environment.
	ModelAnnotation = "localcluster.mifbench.dev/model"
	// EngineArgsAnnotation holds further arguments of the simulator, separated by spaces (say, --fault reset:0.01).
	EngineArgsAnnotation = "localcluster.mifbench.dev/engine-args"
	// EnginePort is the first port of an engine, and the one whose /health tells that it is ready.
	EnginePort = 8000
	// defaultModel is served when a pod does not say what it serves.
	defaultModel = "deepseek-ai/DeepSeek-R1"
	// engineImage is how the last element of an image's name begins when the container is to run the engine binary.
	engineImage = "mifbench"
)

// Engine says how the processes of engine pods are started.
type Engine struct {
	Path        string  // the mifbench binary; empty: engine pods are only nominally running
	Speedup     float64 // simulated seconds per second
	StreamScale float64 // one sequence loads the engine like this many
	Ranks       int     // data-parallel ranks, one port each
	Preset      string  // performance model
}

// mode is how a container is played.
type mode int

const (
	nominal   mode = iota // said to be running, nothing runs
	real                  // its command runs on this machine
	engine                // the simulator runs in its place
	contained             // a runtime is given what a container runtime would be
)

// plan decides how a container is played, and with which command line (before variables and mounts are put in).
func plan(pod *corev1.Pod, c *corev1.Container, e Engine, runtimes Runtimes, lookPath func(string) (string, error)) (mode, []string) {
	if run := runtimes.of(c.Image); run != nil {
		return contained, append(append([]string{}, run...), c.Args...)
	}
	if role := pod.Labels[RoleLabel]; role == "prefill" || role == "decode" {
		if e.Path != "" && c.Name == engineContainer(pod) {
			return engine, nil
		}
		return nominal, nil
	}
	if strings.HasPrefix(path.Base(c.Image), engineImage) && e.Path != "" {
		return real, engineImageArgv(c, e.Path)
	}
	if len(c.Command) == 0 {
		return nominal, nil
	}
	if _, err := lookPath(c.Command[0]); err != nil {
		return nominal, nil
	}
	return real, append(append([]string{}, c.Command...), c.Args...)
}

// engineImageArgv plays an image whose entry point is the binary; a command that names it is taken to mean it.
func engineImageArgv(c *corev1.Container, binary string) []string {
	cmd := c.Command
	if len(cmd) > 0 && path.Base(cmd[0]) != engineImage {
		if _, err := exec.LookPath(cmd[0]); err == nil {
			return append(append([]string{}, cmd...), c.Args...)
		}
	}
	if len(cmd) > 0 {
		cmd = cmd[1:]
	}
	return append(append([]string{binary}, cmd...), c.Args...)
}

// engineContainer is the one that MIF's controller calls main, else the first.
func engineContainer(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == "main" {
			return c.Name
		}
	}
	return pod.Spec.Containers[0].Name
}

// engineArgv is the command line of the process behind an engine pod: one process, one port per rank. Of the engine's own
// arguments it heeds the served name and prefix caching.
func engineArgv(e Engine, w address.Wire, pod *corev1.Pod, podIP string) []string {
	text := commandText(pod)
	argv := []string{
		e.Path, "simulate",
		"--listen", net.JoinHostPort(w.Addr(podIP), strconv.Itoa(EnginePort)),
		"--ranks", strconv.Itoa(e.Ranks),
		"--role", pod.Labels[RoleLabel],
		"--preset", e.Preset,
		"--speedup", fmt.Sprint(e.Speedup),
		"--stream-scale", fmt.Sprint(e.StreamScale),
		"--model", servedModel(pod, text),
	}
	if prefixCaching(text) {
		argv = append(argv, "--prefix-caching=on")
	}
	return append(argv, strings.Fields(pod.Annotations[EngineArgsAnnotation])...)
}

// commandText is all that a pod says about how its engine is started: command lines, scripts and variables.
func commandText(pod *corev1.Pod) string {
	var words []string
	for _, c := range pod.Spec.Containers {
		words = append(append(words, c.Command...), c.Args...)
		for _, e := range c.Env {
			words = append(words, e.Value)
		}
	}
	return strings.Join(words, " ")
}

// servedModel looks for the model name where a preset may have put it.
func servedModel(pod *corev1.Pod, text string) string {
	if m := pod.Annotations[ModelAnnotation]; m != "" {
		return m
	}
	if m := regexp.MustCompile(`--served-model-name[= ]+["']?([\w./:-]+)`).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return defaultModel
}

// prefixCaching tells whether the last word on it is to enable it.
func prefixCaching(text string) bool {
	all := regexp.MustCompile(`--(no-)?enable-prefix-caching\b`).FindAllStringSubmatch(text, -1)
	return len(all) > 0 && all[len(all)-1][1] == ""
}
