package odin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/localcluster/standin/preset"
)

func spec(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMerge(t *testing.T) {
	cases := []struct {
		name   string
		layers []string
		want   string
	}{
		{"later layers win, field by field", []string{`{replicas: 1, model: {name: a}}`, `{replicas: 3}`}, `{replicas: 3, model: {name: a}}`},
		{"environment is merged by name",
			[]string{
				`{template: {spec: {containers: [{name: main, env: [{name: A, value: "1"}, {name: B, value: "1"}]}]}}}`,
				`{template: {spec: {containers: [{name: main, env: [{name: B, value: "2"}]}]}}}`,
			},
			`{template: {spec: {containers: [{name: main, env: [{name: A, value: "1"}, {name: B, value: "2"}]}]}}}`},
		{"resources are merged by key",
			[]string{
				`{workerTemplate: {spec: {containers: [{name: main, resources: {limits: {amd.com/gpu: "8"}}}]}}}`,
				`{workerTemplate: {spec: {containers: [{name: main, resources: {limits: {mellanox/hca: "1"}}}]}}}`,
			},
			`{workerTemplate: {spec: {containers: [{name: main, resources: {limits: {amd.com/gpu: "8", mellanox/hca: "1"}}}]}}}`},
		{"mounts are merged by path",
			[]string{
				`{template: {spec: {containers: [{name: main, volumeMounts: [{name: shm, mountPath: /dev/shm}]}]}}}`,
				`{template: {spec: {containers: [{name: main, volumeMounts: [{name: big, mountPath: /dev/shm}]}]}}}`,
			},
			`{template: {spec: {containers: [{name: main, volumeMounts: [{name: big, mountPath: /dev/shm}]}]}}}`},
		{"arguments are replaced as a whole",
			[]string{
				`{template: {spec: {containers: [{name: main, args: [a, b]}]}}}`,
				`{template: {spec: {containers: [{name: main, args: [c]}]}}}`,
			},
			`{template: {spec: {containers: [{name: main, args: [c]}]}}}`},
		{"null deletes", []string{`{parallelism: {data: 8, expert: true}}`, `{parallelism: {expert: null}}`}, `{parallelism: {data: 8}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var layers []map[string]any
			for _, l := range c.layers {
				layers = append(layers, spec(t, l))
			}
			got, err := merge(layers...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(spec(t, c.want), got); d != "" {
				t.Errorf("merged spec (-want +got):\n%s", d)
			}
		})
	}
}

func TestFill(t *testing.T) {
	eight := int32(8)
	dot := view{identity{Name: "svc", Namespace: "ns", Labels: map[string]string{"a": "b"}},
		&Spec{Model: &Model{Name: "m"}, Parallelism: &Parallelism{Data: &eight}, InferencePoolRefs: []Ref{{Name: "pool"}}}}
	cases := []struct{ name, in, want, err string }{
		{"text without braces is untouched", `$(POD_IP) {"a":1}`, `$(POD_IP) {"a":1}`, ""},
		{"the identity", `{{ .Name }}/{{ .Namespace }}/{{ .Labels.a }}`, "svc/ns/b", ""},
		{"a pointer in the spec", `{{ deref .Spec "Parallelism" "Data" }}`, "8", ""},
		{"a default where a field is not set", `{{ deref .Spec "Parallelism" "Tensor" | default 1 }}`, "1", ""},
		{"a default where its parent is not set", `{{ deref .Spec "Service" "Target" | default "x" }}`, "x", ""},
		{"a set field beats the default", `{{ deref .Spec "Model" "Name" | default "x" }}`, "m", ""},
		{"a condition", `{{ if deref .Spec "Parallelism" "Expert" }}--ep{{ end }}`, "", ""},
		{"a list element", `{{ (index .Spec.InferencePoolRefs 0).Name }}`, "pool", ""},
		{"an unknown field is an error", `{{ deref .Spec "Parallel" }}`, "", "no field"},
		{"an unknown function is an error", `{{ nope }}`, "", "not defined"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := fill([]any{c.in}, dot)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]any{c.want}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	cases := []struct{ name, spec, want string }{
		{"a plain template is enough", `{template: {}}`, ""},
		{"neither template", `{replicas: 1}`, "one of template and workerTemplate"},
		{"workerTemplate without parallelism", `{workerTemplate: {}}`, "needs data or pipeline"},
		{"data and pipeline", `{workerTemplate: {}, parallelism: {data: 2, pipeline: 2}}`, "exclude each other"},
		{"two pools", `{template: {}, inferencePoolRefs: [{name: a}, {name: b}]}`, "at most 1"},
		{"Recreate is for Deployments", `{workerTemplate: {}, parallelism: {data: 2}, rolloutStrategy: {type: Recreate}}`, "RollingUpdate"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s Spec
			if err := convert(spec(t, c.spec), &s); err != nil {
				t.Fatal(err)
			}
			err := check(&s)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// The published decode service, from base, preset and its own spec.
func TestPublishedDecodeService(t *testing.T) {
	isvc := &unstructured.Unstructured{Object: map[string]any{"spec": spec(t, `
replicas: 3
inferencePoolRefs: [{name: heimdall}]
templateRefs:
  - name: vllm-decode-dp
  - name: quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8
workerTemplate:
  spec:
    containers:
      - name: main
        env: [{name: ISVC_MODEL_PATH, value: /app/model/DeepSeek-R1}]
        resources: {limits: {mellanox/hca: "1"}, requests: {mellanox/hca: "1"}}
        volumeMounts: [{name: dsr1, mountPath: /app/model/DeepSeek-R1}]
    volumes: [{name: dsr1, hostPath: {path: /models}}]
`)}}
	isvc.SetName("deepseek-r1-decode")
	isvc.SetNamespace("bench")
	all, err := preset.Templates()
	if err != nil {
		t.Fatal(err)
	}
	templates, err := lookUp(isvc, func(namespace, name string) (*unstructured.Unstructured, error) {
		for _, u := range all {
			if u.GetNamespace() == namespace && u.GetName() == name {
				return u, nil
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := renderService(isvc, templates)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(&r.spec); err != nil {
		t.Fatal(err)
	}
	pod := r.spec.WorkerTemplate.Spec
	main := pod.Containers[0]
	env := map[string]string{}
	for _, e := range main.Env {
		env[e.Name] = e.Value
	}
	got := map[string]any{
		"containers": len(pod.Containers), "proxy": *pod.InitContainers[0].RestartPolicy, "size": r.spec.groupSize(),
		"gpu": main.Resources.Limits.Name("amd.com/gpu", "").String(), "hca": main.Resources.Limits.Name("mellanox/hca", "").String(),
		"model": env["ISVC_MODEL_PATH"], "mounts": len(main.VolumeMounts), "volumes": len(pod.Volumes),
		"flags":  strings.Contains(env["ISVC_EXTRA_ARGS"], "--no-enable-prefix-caching") && strings.Contains(env["ISVC_EXTRA_ARGS"], "--max-num-seqs 2048"),
		"served": strings.Contains(main.Args[0], `--served-model-name "deepseek-ai/DeepSeek-R1"`) && strings.Contains(main.Args[0], "--enable-expert-parallel"),
	}
	want := map[string]any{
		"containers": 1, "proxy": corev1.ContainerRestartPolicyAlways, "size": int32(1), "gpu": "8", "hca": "1",
		"model": "/app/model/DeepSeek-R1", "mounts": 2, "volumes": 2, "flags": true, "served": true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rendered service (-want +got):\n%s", d)
	}
	l := workload(isvc, &r.spec, map[string]string{"mif.moreh.io/pool": "heimdall"})
	labels, _, _ := unstructured.NestedStringMap(l.obj.Object, "spec", "leaderWorkerTemplate", "workerTemplate", "metadata", "labels")
	wantLabels := map[string]string{
		"app.kubernetes.io/name": "deepseek-r1-decode", "mif.moreh.io/inferenceservice": "deepseek-r1-decode",
		"mif.moreh.io/pool": "heimdall", "mif.moreh.io/role": "decode",
	}
	if d := cmp.Diff(wantLabels, labels); d != "" {
		t.Errorf("pod labels (-want +got):\n%s", d)
	}
}

func TestLookUpSaysWhereItLooked(t *testing.T) {
	isvc := &unstructured.Unstructured{Object: map[string]any{"spec": spec(t, `{templateRefs: [{name: nope}]}`)}}
	isvc.SetNamespace("bench")
	_, err := lookUp(isvc, func(string, string) (*unstructured.Unstructured, error) { return nil, nil })
	if err == nil || !strings.Contains(err.Error(), `"nope" not found in namespace "bench" or "mif"`) {
		t.Errorf("got %v", err)
	}
}
