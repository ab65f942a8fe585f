package kubelet

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestRuntimes(t *testing.T) {
	r := Runtimes{"pilot": {"run", "pilot-discovery"}}
	for image, want := range map[string]bool{
		"registry.example:5000/testing/pilot:latest": true, "pilot": true, "a/pilot@sha256:00": true,
		"a/pilot-agent:1": false, "pilot/b": false,
	} {
		if got := r.of(image) != nil; got != want {
			t.Errorf("%s: %v", image, got)
		}
	}
	c := corev1.Container{Image: "a/pilot:1", Command: []string{"sleep"}, Args: []string{"discovery"}}
	m, argv := plan(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}, &c, Engine{}, r, exec.LookPath)
	if m != contained || !slices.Equal(argv, []string{"run", "pilot-discovery", "discovery"}) {
		t.Errorf("mode %d, command line %q", m, argv)
	}
}

// TestContainedEnv: variables and mounts reach the runtime as the pod states them.
func TestContainedEnv(t *testing.T) {
	k := &Kubelet{Options: Options{Marker: "M=1", Block: 77, Hosts: func() string { return "10.77.128.9 a.b.svc\n" }}}
	r := &runner{w: &worker{k: k, ip: "10.77.1.9"}, pod: &corev1.Pod{}}
	home := t.TempDir()
	env, err := r.containedEnv(home, mounts{{inside: "/config", outside: "/pods/1/config"}}, []corev1.EnvVar{{Name: "AT", Value: "/config in a.b.svc"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"M=1", "AT=/config in a.b.svc", "LOCALCLUSTER_POD_IP=10.77.1.9", "KUBERNETES_SERVICE_HOST=10.77.128.1", "LOCALCLUSTER_MOUNTS=" + filepath.Join(home, "LOCALCLUSTER_MOUNTS")} {
		if !slices.Contains(env, want) {
			t.Errorf("%q lacks %q", env, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(home, "LOCALCLUSTER_MOUNTS"))
	if err != nil || string(text) != "/config /pods/1/config\n" {
		t.Errorf("mounts are %q, %v", text, err)
	}
}

func TestResourceValue(t *testing.T) {
	c := &corev1.Container{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}}}
	for name, want := range map[string]string{"limits.cpu": "2", "limits.memory": "2199023255552", "requests.cpu": "0"} {
		got, err := resourceValue(c, &corev1.ResourceFieldSelector{Resource: name})
		if err != nil || got != want {
			t.Errorf("%s is %q, want %q (%v)", name, got, want, err)
		}
	}
	if c.Resources.Limits.Memory().Value() != 0 {
		t.Error("the container was changed")
	}
	if _, err := resourceValue(c, &corev1.ResourceFieldSelector{Resource: "limits.time"}); err == nil || !strings.Contains(err.Error(), "limits.time") {
		t.Errorf("error %v", err)
	}
}
