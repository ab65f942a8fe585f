package check

import (
	"slices"
	"strconv"
	"strings"
)

// node is a node as the scheduler sees it.
type node struct {
	name   string
	labels map[string]any
	taints []any
	// allocatable counts the extended resources (amd.com/gpu, mellanox/hca).
	allocatable map[string]int64
	cordoned    bool
	// trouble says why the node is not Ready, "" when it is.
	trouble string
}

func newNode(o map[string]any) node {
	n := node{
		name: textAt(o, "metadata", "name"), labels: mapAt(o, "metadata", "labels"),
		allocatable: extended(mapAt(o, "status", "allocatable")),
		trouble:     "it reports no Ready condition",
	}
	n.cordoned, _ = dig(o, "spec", "unschedulable").(bool)
	for _, t := range listAt(o, "spec", "taints") {
		if !strings.HasPrefix(textAt(t, "key"), "node.kubernetes.io/") { // these follow the conditions
			n.taints = append(n.taints, t)
		}
	}
	for _, c := range listAt(o, "status", "conditions") {
		if textAt(c, "type") != "Ready" {
			continue
		}
		if n.trouble = ""; textAt(c, "status") != "True" {
			n.trouble = strings.TrimSuffix(textAt(c, "reason")+": "+textAt(c, "message"), ": ")
		}
	}
	return n
}

// out says why the node takes no pods at present, "" when it does.
func (n node) out() string {
	switch {
	case n.trouble != "":
		return "NotReady (" + n.trouble + ")"
	case n.cordoned:
		return "cordoned"
	}
	return ""
}

// extended are the whole numbers of the extended resources of a resource list.
func extended(list map[string]any) map[string]int64 {
	out := map[string]int64{}
	for name, v := range list {
		if !strings.Contains(name, "/") || strings.HasPrefix(name, "hugepages-") || strings.Contains(name, "kubernetes.io/") {
			continue
		}
		if n, ok := count(v); ok {
			out[name] = n
		}
	}
	return out
}

// count reads the quantity of an extended resource, which is a whole number: 8, "8", "1k".
func count(v any) (int64, bool) {
	if n, ok := number(v); ok {
		return int64(n), true
	}
	text, _ := v.(string)
	for suffix, factor := range map[string]int64{"k": 1000, "M": 1000_000, "Ki": 1 << 10, "Mi": 1 << 20} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseInt(digits, 10, 64)
			return n * factor, err == nil
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// placement is what a pod asks of its node, apart from room.
type placement struct {
	selector    map[string]any
	tolerations []any
	// terms are the node selector terms of the required node affinity: one must match.
	terms []any
}

func newPlacement(podSpec map[string]any) placement {
	return placement{
		selector: mapAt(podSpec, "nodeSelector"), tolerations: listAt(podSpec, "tolerations"),
		terms: listAt(podSpec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
	}
}

// refusal says why a pod may not go to a node whatever room there is, "" when it may.
func (p placement) refusal(n node) string {
	for _, key := range sortedKeys(p.selector) {
		want, has := textOf(p.selector[key]), textOf(n.labels[key])
		if has != want {
			if has == "" {
				return "label " + key + "=" + want + " missing"
			}
			return "label " + key + " is " + has + ", not " + want
		}
	}
	if len(p.terms) > 0 && !slices.ContainsFunc(p.terms, n.meets) {
		return "its labels do not meet the node affinity"
	}
	for _, t := range n.taints {
		effect := textAt(t, "effect")
		if effect != "PreferNoSchedule" && !slices.ContainsFunc(p.tolerations, func(tol any) bool { return tolerates(tol, t) }) {
			return "taint " + textAt(t, "key") + ":" + effect + " not tolerated"
		}
	}
	return ""
}

func tolerates(toleration, taint any) bool {
	key, effect := textAt(toleration, "key"), textAt(toleration, "effect")
	if effect != "" && effect != textAt(taint, "effect") {
		return false
	}
	if textAt(toleration, "operator") == "Exists" {
		return key == "" || key == textAt(taint, "key")
	}
	return key == textAt(taint, "key") && textAt(toleration, "value") == textAt(taint, "value")
}

// meets tells whether the node fulfils one node selector term; an empty term matches nothing.
func (n node) meets(term any) bool {
	exprs, fields := listAt(term, "matchExpressions"), listAt(term, "matchFields")
	for _, e := range exprs {
		if !holds(e, n.labels) {
			return false
		}
	}
	for _, e := range fields {
		if !holds(e, map[string]any{"metadata.name": n.name}) {
			return false
		}
	}
	return len(exprs)+len(fields) > 0
}

// holds evaluates one requirement of a node selector.
func holds(expr any, labels map[string]any) bool {
	has, there := labels[textAt(expr, "key")]
	values := listAt(expr, "values")
	in := there && slices.ContainsFunc(values, func(v any) bool { return textOf(v) == textOf(has) })
	switch textAt(expr, "operator") {
	case "In":
		return in
	case "NotIn":
		return !in
	case "Exists":
		return there
	case "DoesNotExist":
		return !there
	case "Gt", "Lt":
		a, errA := strconv.ParseInt(textOf(has), 10, 64)
		if errA != nil || len(values) != 1 {
			return false
		}
		b, errB := strconv.ParseInt(textOf(values[0]), 10, 64)
		return errB == nil && (textAt(expr, "operator") == "Gt" && a > b || textAt(expr, "operator") == "Lt" && a < b)
	}
	return false
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
