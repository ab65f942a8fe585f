package real

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// statusFile is what the real parts say of the published stack; the stand-ins are held to it.
const statusFile = "testdata/status.yaml"

// judged is an object on which the real parts pass judgement.
type judged struct {
	schema.GroupVersionResource
	namespace, name string
}

func allJudged() []judged {
	kind := func(group, resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
	}
	return []judged{
		{kind("gateway.networking.k8s.io", "gatewayclasses"), "", "istio"},
		{kind("gateway.networking.k8s.io", "gateways"), namespace, "mif"},
		{kind("gateway.networking.k8s.io", "httproutes"), namespace, "heimdall"},
		{kind("inference.networking.k8s.io", "inferencepools"), namespace, "heimdall"},
	}
}

// checkStatus compares every status with what was recorded.
func checkStatus(t *testing.T, c *cluster) {
	var got strings.Builder
	for _, j := range allJudged() {
		o := c.get(t, j.GroupVersionResource, j.namespace, j.name)
		meta, _ := o["metadata"].(map[string]any)
		status := timeless(reachable(o["status"]), meta["generation"])
		text, err := yaml.Marshal(map[string]any{"kind": o["kind"], "name": meta["name"], "status": status})
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("---\n" + string(text))
	}
	if *update && os.Getenv(folderVariable) != "" {
		if err := os.WriteFile(statusFile, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(statusFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("status (rewrite with -update):\n%s", diff)
	}
}

// reachable removes the loopback address that the stand-in adds to the name of a Gateway's
// Service: nobody resolves that name outside of a cluster.
func reachable(status any) any {
	m, _ := status.(map[string]any)
	all, _ := m["addresses"].([]any)
	for i, a := range all {
		if one, ok := a.(map[string]any); ok && len(all) > 1 && one["type"] == "IPAddress" {
			m["addresses"] = slices.Delete(all, i, i+1)
			break
		}
	}
	return status
}

var address = regexp.MustCompile(`\b(10|127)\.\d+\.\d+\.\d+\b`)

// timeless removes what differs from run to run: times, addresses, and generations, of which it
// is kept whether they are the current one.
func timeless(v any, generation any) any {
	switch x := v.(type) {
	case map[string]any:
		delete(x, "lastTransitionTime")
		for k := range x {
			if k == "observedGeneration" {
				x[k] = map[bool]string{true: "current", false: "old"}[x[k] == generation]
				continue
			}
			x[k] = timeless(x[k], generation)
		}
	case []any:
		for i := range x {
			x[i] = timeless(x[i], generation)
		}
	case string:
		return address.ReplaceAllString(x, "ADDRESS")
	}
	return v
}
