package kubelet

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// store is a lookup in memory.
type store map[string]map[string]string

func (s store) configMap(name string) (map[string]string, error) {
	if d, ok := s[name]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("configmap %q not found", name)
}

func (s store) secret(name string) (map[string]string, error) { return s.configMap(name) }

func TestVariables(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a/b": "label"}}}
	ref := func(key string, optional bool) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Key: key, Optional: ptr.To(optional)}}
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	c := &corev1.Container{
		EnvFrom: []corev1.EnvFromSource{{Prefix: "P_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
		Env: []corev1.EnvVar{
			{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)-$(P_k)-$(NONE)"}, {Name: "C", ValueFrom: ref("k", false)},
			{Name: "D", ValueFrom: ref("none", true)}, {Name: "E", ValueFrom: field("status.podIP")}, {Name: "F", ValueFrom: field("metadata.labels['a/b']")},
		},
	}
	s := store{"cm": {"k": "v"}}
	vars, err := variables(pod, c, "10.77.1.1", "127.77.0.10", s)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range vars {
		got[v.Name] = v.Value
	}
	want := map[string]string{"P_k": "v", "A": "1", "B": "1-v-$(NONE)", "C": "v", "E": "10.77.1.1", "F": "label"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	c.Env = []corev1.EnvVar{{Name: "X", ValueFrom: ref("none", false)}}
	if _, err := variables(pod, c, "", "", s); err == nil {
		t.Error("a missing key that is not optional was accepted")
	}
}

func TestMountsRewrite(t *testing.T) {
	m := containerMounts(&corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "a", MountPath: "/data"}, {Name: "b", MountPath: "/data/in", SubPath: "x"}, {Name: "absent", MountPath: "/none"},
	}}, map[string]string{"a": "/tmp/A", "b": "/tmp/B"})
	for in, want := range map[string]string{
		"/data":                    "/tmp/A",
		"/data/f":                  "/tmp/A/f",
		"/data/in/f":               "/tmp/B/x/f",
		"--out=/data/o --in=/data": "--out=/tmp/A/o --in=/tmp/A",
		"/database":                "/database",
		"http://host/data":         "http://host/data",
		"cat /none /data; ls":      "cat /none /tmp/A; ls",
		"tar cf - -C /data/in .":   "tar cf - -C /tmp/B/x .",
	} {
		if got := m.rewrite(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestVolumes(t *testing.T) {
	src := func(v corev1.VolumeSource) []corev1.Volume { return []corev1.Volume{{Name: "v", VolumeSource: v}} }
	pod := &corev1.Pod{}
	dir := t.TempDir()
	s := store{"cm": {"a": "one", "b": "2"}}
	pod.Spec.Volumes = src(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Items: []corev1.KeyToPath{{Key: "a", Path: "sub/f"}}}})
	at, err := volumes(t.Context(), pod, dir, s, nil, strings.ToUpper)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(at["v"], "sub", "f")); err != nil || string(data) != "ONE" {
		t.Errorf("got %q, %v", data, err)
	}
	pod.Spec.Volumes = src(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}})
	if _, err := volumes(t.Context(), pod, dir, s, nil, strings.ToUpper); err == nil {
		t.Error("a missing secret was accepted")
	}
	pod.Spec.Volumes = src(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/models"}})
	if at, err := volumes(t.Context(), pod, dir, s, nil, strings.ToUpper); err != nil || at["v"] != "/mnt/models" {
		t.Errorf("host path: %v, %v", at, err)
	}
}

func TestExpandArgs(t *testing.T) {
	got := expandArgs([]string{"$(A)", "$$(A)", "$(B)"}, []corev1.EnvVar{{Name: "A", Value: "x"}})
	if !slices.Equal(got, []string{"x", "$(A)", "$(B)"}) {
		t.Errorf("got %q", got)
	}
}
