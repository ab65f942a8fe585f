package check

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRefusal(t *testing.T) {
	n := newNode(parse(t, `{metadata: {name: a, labels: {zone: z1, generation: "3", kubernetes.io/hostname: a}},
  spec: {taints: [{key: gpu, value: amd, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}, {key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}}`))
	const tolerate = "tolerations: [{key: gpu, operator: Exists}]"
	term := func(expr string) string {
		return tolerate + ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + expr + "]}}}"
	}
	const affinity = "its labels do not meet the node affinity"
	for pod, want := range map[string]string{
		"{}":                                  "taint gpu:NoSchedule not tolerated",
		"{" + tolerate + "}":                  "",
		"{tolerations: [{operator: Exists}]}": "",
		"{tolerations: [{key: gpu, value: amd}]}":                                                  "",
		"{tolerations: [{key: gpu, value: nvidia}]}":                                               "taint gpu:NoSchedule not tolerated",
		"{tolerations: [{key: gpu, operator: Exists, effect: NoExecute}]}":                         "taint gpu:NoSchedule not tolerated",
		"{nodeSelector: {zone: z1}, " + tolerate + "}":                                             "",
		"{nodeSelector: {zone: z2}, " + tolerate + "}":                                             "label zone is z1, not z2",
		"{nodeSelector: {rack: r1}, " + tolerate + "}":                                             "label rack=r1 missing",
		"{" + term("{matchExpressions: [{key: zone, operator: In, values: [z1]}]}") + "}":          "",
		"{" + term("{matchExpressions: [{key: zone, operator: NotIn, values: [z1]}]}") + "}":       affinity,
		"{" + term("{matchExpressions: [{key: rack, operator: NotIn, values: [z1]}]}") + "}":       "",
		"{" + term("{matchExpressions: [{key: rack, operator: Exists}]}") + "}":                    affinity,
		"{" + term("{matchExpressions: [{key: rack, operator: DoesNotExist}]}") + "}":              "",
		"{" + term("{matchExpressions: [{key: generation, operator: Gt, values: [\"2\"]}]}") + "}": "",
		"{" + term("{matchExpressions: [{key: generation, operator: Lt, values: [\"2\"]}]}") + "}": affinity,
		"{" + term("{matchExpressions: [{key: generation, operator: Gt, values: [many]}]}") + "}":  affinity,
		"{" + term("{matchFields: [{key: metadata.name, operator: In, values: [a]}]}") + "}":       "",
		"{" + term("{}") + "}": affinity,
		"{" + term("{matchExpressions: [{key: zone, operator: In, values: [z9]}]}, {matchExpressions: [{key: zone, operator: Exists}]}") + "}": "",
	} {
		if got := newPlacement(parse(t, pod)).refusal(n); got != want {
			t.Errorf("%s: %q, want %q", pod, got, want)
		}
	}
}

func TestPodRequests(t *testing.T) {
	got := podRequests(parse(t, `
containers:
- {resources: {limits: {amd.com/gpu: 8, cpu: 4, hugepages-2Mi: 1Gi}}}
- {resources: {requests: {mellanox/hca: "1"}}}
initContainers:
- {restartPolicy: Always, resources: {limits: {mellanox/hca: 1}}}
- {resources: {limits: {mellanox/hca: 5, amd.com/gpu: 1}}}
`))
	if text := fmt.Sprint(got); text != "map[amd.com/gpu:8 mellanox/hca:5]" {
		t.Error(text)
	}
}

func TestOverlay(t *testing.T) {
	a := parse(t, `{spec: {nodeSelector: {a: "1", b: "2"}, tolerations: [{key: x}], containers: [{name: main, image: i, resources: {limits: {gpu: 8}}, env: [{name: A, value: "1"}]}, {name: side}]}}`)
	before, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	b := parse(t, `{spec: {nodeSelector: {b: null, c: "3"}, tolerations: [{key: z}], containers: [{name: main, resources: {limits: {hca: 1}}, env: [{name: A, value: "2"}, {name: B}]}, {name: new}]}}`)
	got, err := json.Marshal(overlay(a, b))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"spec":{"containers":[{"env":[{"name":"A","value":"2"},{"name":"B"}],"image":"i","name":"main","resources":{"limits":{"gpu":8,"hca":1}}},{"name":"side"},{"name":"new"}],` +
		`"nodeSelector":{"a":"1","c":"3"},"tolerations":[{"key":"z"}]}}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
	if after, err := json.Marshal(a); err != nil || string(after) != string(before) {
		t.Errorf("the argument was changed: %s (%v)", after, err)
	}
}

func TestGroupSize(t *testing.T) {
	for text, want := range map[string]int64{
		"{}": 1, "{data: 8}": 1, "{data: 8, dataLocal: 8}": 1, "{data: 16, dataLocal: 8}": 2, "{pipeline: 4}": 4, "{data: 8, pipeline: 2}": 1, "{tensor: 8}": 1,
	} {
		if got := groupSize(parse(t, text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		v    any
		want int64
		ok   bool
	}{{"8", 8, true}, {int64(8), 8, true}, {float64(8), 8, true}, {"1k", 1000, true}, {"2Ki", 2048, true}, {"{{ .Spec.tensor }}", 0, false}, {nil, 0, false}, {"1.5", 0, false}} {
		if got, ok := count(c.v); ok != c.ok || ok && got != c.want {
			t.Errorf("%v: %d, %v", c.v, got, ok)
		}
	}
}

// TestPullContentKeepsNoCredential: what is kept of a Secret cannot be printed by mistake.
func TestPullContentKeepsNoCredential(t *testing.T) {
	c := newPullContent(parse(t, `{type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: eyJhdXRocyI6eyJodHRwczovL2guZXhhbXBsZS92MSI6eyJhdXRoIjoiUVZkVE9uTmxZM0psZEE9PSJ9fX0=}}`))
	if got := fmt.Sprintf("%+v", *c); got != "{kind:kubernetes.io/dockerconfigjson trouble: hosts:[h.example] expires:{wall:0 ext:0 loc:<nil>} copied:false}" {
		t.Error(got)
	}
	for text, want := range map[string]string{"{data: {}}": "it has no valid key .dockerconfigjson", "{data: {.dockerconfigjson: c2VjcmV0}}": "its key .dockerconfigjson is no docker config"} {
		if got := newPullContent(parse(t, text)).trouble; got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestShortTime(t *testing.T) {
	for d, want := range map[time.Duration]string{45 * time.Second: "45s", 20 * time.Minute: "20m", 6 * time.Hour: "6h", 190 * time.Minute: "3h10m", 50 * time.Hour: "2 days"} {
		if got := shortTime(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

func TestImageVersion(t *testing.T) {
	for image, want := range map[string]string{
		"docker.io/istio/pilot:1.29.1": "1.29.1", "localhost:5000/pilot:1.28.0-distroless@sha256:ab": "1.28.0", "localhost:5000/pilot": "", "pilot:latest": "",
	} {
		got := ""
		if v := imageVersion(image); v != nil {
			got = v.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}
