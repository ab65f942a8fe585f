package kube

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// rule says when an object of one kind is ready, from the object alone.
type rule struct {
	group, kind string
	ready       func(obj map[string]any) plan.Readiness
}

// rules is the table of readiness rules. A kind without a row is ready when it has no Ready
// condition or that condition is True.
func rules() []rule {
	return []rule{
		{"", "Namespace", namespaceReady},
		{"", "PersistentVolumeClaim", claimReady},
		{"", "Pod", podReady},
		{"", "Service", serviceReady},
		{"apiextensions.k8s.io", "CustomResourceDefinition", crdReady},
		{"apps", "DaemonSet", daemonSetReady},
		{"apps", "Deployment", deploymentReady},
		{"apps", "ReplicaSet", replicaSetReady},
		{"apps", "StatefulSet", statefulSetReady},
		{"batch", "Job", jobReady},
		{"gateway.networking.k8s.io", "Gateway", gatewayReady},
		{"gateway.networking.k8s.io", "HTTPRoute", parentsReady},
		{"inference.networking.k8s.io", "InferencePool", parentsReady},
		{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", leaderWorkerSetReady},
		{"odin.moreh.io", "InferenceService", inferenceServiceReady},
	}
}

// Ready judges a live object: by the author's own rule when there is one, else by the rule of
// its kind. It looks at the object only; doomed pods behind it are Wait's matter.
func Ready(obj map[string]any, wait *resource.Wait) plan.Readiness {
	if wait != nil {
		return waitRule(obj, wait)
	}
	apiVersion, _ := obj["apiVersion"].(string)
	id := resource.ID{APIVersion: apiVersion}
	for _, r := range rules() {
		if r.group == id.Group() && r.kind == obj["kind"] {
			return r.ready(obj)
		}
	}
	return otherReady(obj)
}

func ready(reason string) plan.Readiness { return plan.Readiness{Ready: true, Reason: reason} }

func notYet(format string, args ...any) plan.Readiness {
	return plan.Readiness{Reason: fmt.Sprintf(format, args...)}
}

func doomed(format string, args ...any) plan.Readiness {
	return plan.Readiness{Failed: true, Reason: fmt.Sprintf(format, args...)}
}

// otherReady is the rule of kinds that we know nothing of; an object without a Ready
// condition counts as ready because it exists, and says so.
func otherReady(obj map[string]any) plan.Readiness {
	if seen, gen := observed(obj); seen >= 0 && seen < gen {
		return notYet("its controller has seen generation %d of %d", seen, gen)
	}
	if c, ok := find(obj, "Ready"); ok {
		return conditionReady(obj, c)
	}
	return ready("exists (no rule for this kind; a wait block can set one)")
}

// conditionReady wants a condition to be True and not older than the object's generation.
func conditionReady(obj map[string]any, c condition) plan.Readiness {
	if stale(obj, c) {
		return notYet("condition %s is of generation %d, the object of %d", c.kind, c.generation, generation(obj))
	}
	if c.status != "True" {
		return notYet("%s", c)
	}
	return ready("")
}

// waitRule is the author's own rule.
func waitRule(obj map[string]any, w *resource.Wait) plan.Readiness {
	for _, kind := range sortedKeys(w.Conditions) {
		c, ok := find(obj, kind)
		switch {
		case !ok:
			return notYet("no condition %s yet", kind)
		case stale(obj, c):
			return conditionReady(obj, c)
		case c.status != w.Conditions[kind]:
			return notYet("%s", c)
		}
	}
	for _, path := range sortedKeys(w.Fields) {
		v, ok := at(obj, path)
		if text := fmt.Sprint(v); !ok || text != w.Fields[path] {
			return notYet("%s is %s, not %s", path, orAbsent(text, ok), w.Fields[path])
		}
	}
	return ready("")
}

func orAbsent(text string, ok bool) string {
	if !ok {
		return "absent"
	}
	return text
}

// at follows a dotted path with [n] indexes, optionally in kubectl's form {.a.b[0]}.
func at(v any, path string) (any, bool) {
	path = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}"), ".")
	path = strings.ReplaceAll(strings.ReplaceAll(path, "[", "."), "]", "")
	for _, step := range strings.Split(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			next, ok := t[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// condition is one entry of status.conditions.
type condition struct {
	kind, status, reason, message string
	// generation is the condition's own observedGeneration, -1 when it has none.
	generation int64
	since      string
}

// String is one line: Programmed=False (Invalid): listener http has no certificate.
func (c condition) String() string {
	s := c.kind + "=" + c.status
	if c.reason != "" {
		s += " (" + c.reason + ")"
	}
	if c.message != "" {
		s += ": " + c.message
	}
	return s
}

func conditions(obj map[string]any) []condition {
	list, _, _ := unstructured.NestedSlice(obj, "status", "conditions")
	return readConditions(list)
}

func readConditions(list []any) []condition {
	out := make([]condition, 0, len(list))
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		text := func(k string) string { s, _ := m[k].(string); return s }
		c := condition{kind: text("type"), status: text("status"), reason: text("reason"), message: text("message"), since: text("lastTransitionTime"), generation: -1}
		if g, ok := m["observedGeneration"].(int64); ok {
			c.generation = g
		}
		out = append(out, c)
	}
	return out
}

func find(obj map[string]any, kind string) (condition, bool) {
	for _, c := range conditions(obj) {
		if c.kind == kind {
			return c, true
		}
	}
	return condition{}, false
}

// stale tells that a condition speaks of an older generation of the object.
func stale(obj map[string]any, c condition) bool {
	return c.generation >= 0 && c.generation < generation(obj)
}

func generation(obj map[string]any) int64 {
	g, _, _ := unstructured.NestedInt64(obj, "metadata", "generation")
	return g
}

// observed is status.observedGeneration (-1 when absent) and metadata.generation.
func observed(obj map[string]any) (seen, gen int64) {
	seen, ok, _ := unstructured.NestedInt64(obj, "status", "observedGeneration")
	if !ok {
		seen = -1
	}
	return seen, generation(obj)
}

func statusInt(obj map[string]any, field string) int64 {
	n, _, _ := unstructured.NestedInt64(obj, "status", field)
	return n
}

func specInt(obj map[string]any, field string, missing int64) int64 {
	n, ok, _ := unstructured.NestedInt64(obj, "spec", field)
	if !ok {
		return missing
	}
	return n
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
