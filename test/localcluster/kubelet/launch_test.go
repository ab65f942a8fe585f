package kubelet

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

func enginePod(command ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{RoleLabel: "decode"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "side"}, {Name: "main", Command: command}}},
	}
}

func TestPlan(t *testing.T) {
	onPath := func(name string) (string, error) {
		if name == "sleep" || name == "sh" {
			return "/bin/" + name, nil
		}
		return "", errors.New("not found")
	}
	e := Engine{Path: "/bin/mifbench"}
	for _, c := range []struct {
		about string
		pod   *corev1.Pod
		c     corev1.Container
		e     Engine
		mode  mode
		argv  []string
	}{
		{"main container of an engine pod", enginePod(), corev1.Container{Name: "main", Command: []string{"sh"}}, e, engine, nil},
		{"another container of an engine pod", enginePod(), corev1.Container{Name: "side", Command: []string{"sh"}}, e, nominal, nil},
		{"engine pod without an engine binary", enginePod(), corev1.Container{Name: "main", Command: []string{"sh"}}, Engine{}, nominal, nil},
		{"command that exists here", &corev1.Pod{}, corev1.Container{Command: []string{"sleep"}, Args: []string{"infinity"}}, e, real, []string{"sleep", "infinity"}},
		{"command that does not", &corev1.Pod{}, corev1.Container{Command: []string{"nginx"}}, e, nominal, nil},
		{"no command", &corev1.Pod{}, corev1.Container{Args: []string{"sleep"}}, e, nominal, nil},
		{"mifbench image by its entry point", &corev1.Pod{}, corev1.Container{Image: "r.io/x/mifbench:v1", Args: []string{"run"}}, e, real, []string{"/bin/mifbench", "run"}},
		{"mifbench image by name", &corev1.Pod{}, corev1.Container{Image: "mifbench-client", Command: []string{"/usr/bin/mifbench", "run"}}, e, real, []string{"/bin/mifbench", "run"}},
		{"mifbench image without the binary", &corev1.Pod{}, corev1.Container{Image: "mifbench:v1", Args: []string{"run"}}, Engine{}, nominal, nil},
	} {
		m, argv := plan(c.pod, &c.c, c.e, nil, onPath)
		if m != c.mode || !slices.Equal(argv, c.argv) {
			t.Errorf("%s: got mode %v %q, want %v %q", c.about, m, argv, c.mode, c.argv)
		}
	}
}

func TestEngineArgv(t *testing.T) {
	pod := enginePod("bash", "-c", "vllm serve --served-model-name 'org/model' --no-enable-prefix-caching $EXTRA")
	e := Engine{Path: "m", Speedup: 20, StreamScale: 75, Ranks: 8, Preset: "p"}
	want := []string{"m", "simulate", "--listen", "127.77.1.9:8000", "--ranks", "8", "--role", "decode", "--preset", "p",
		"--speedup", "20", "--stream-scale", "75", "--model", "org/model"}
	if got := engineArgv(e, address.Wire{}, pod, "10.77.1.9"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "EXTRA", Value: "--enable-prefix-caching"}}
	pod.Annotations = map[string]string{ModelAnnotation: "other", EngineArgsAnnotation: "--fault reset:0.1"}
	want[len(want)-1] = "other"
	want = append(want, "--prefix-caching=on", "--fault", "reset:0.1")
	if got := engineArgv(e, address.Wire{}, pod, "10.77.1.9"); !slices.Equal(got, want) {
		t.Errorf("with annotations: got  %q\nwant %q", got, want)
	}
}
