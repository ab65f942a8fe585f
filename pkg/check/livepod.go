package check

import "strings"

// livePod is a pod that holds or wants room on a node.
type livePod struct {
	place
	labels map[string]any
	// node is "" while the pod is not scheduled.
	node string
	// requests counts the extended resources.
	requests map[string]int64
	// leaving tells that its deletion was asked for: it holds its room until it is gone.
	leaving bool
}

// newLivePod reads a pod; ok is false for one that has ended and holds nothing.
func newLivePod(o map[string]any) (p livePod, ok bool) {
	if phase := textAt(o, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
		return p, false
	}
	return livePod{
		place:  place{textAt(o, "metadata", "namespace"), textAt(o, "metadata", "name")},
		labels: mapAt(o, "metadata", "labels"), node: textAt(o, "spec", "nodeName"),
		requests: podRequests(mapAt(o, "spec")), leaving: dig(o, "metadata", "deletionTimestamp") != nil,
	}, true
}

func (p livePod) String() string { return p.namespace + "/" + p.name }

// service is the InferenceService that made the pod, "" for none.
func (p livePod) service() string {
	if s := textOf(p.labels["mif.moreh.io/inferenceservice"]); s != "" {
		return s
	}
	for key := range p.labels {
		if strings.HasPrefix(key, "mif.moreh.io/") {
			return textOf(p.labels["app.kubernetes.io/name"])
		}
	}
	return ""
}

// of tells whether the pod is one of an InferenceService, by whichever label says so.
func (p livePod) of(namespace, service string) bool {
	if p.namespace != namespace {
		return false
	}
	for _, key := range []string{"mif.moreh.io/inferenceservice", "app.kubernetes.io/name", "leaderworkerset.sigs.k8s.io/name"} {
		if textOf(p.labels[key]) == service {
			return true
		}
	}
	return false
}

// podRequests are the extended resources that a pod holds: of all containers and sidecars
// together, or of one init container when that needs more.
func podRequests(spec map[string]any) map[string]int64 {
	sum, peak := map[string]int64{}, map[string]int64{}
	for _, c := range listAt(spec, "containers") {
		add(sum, containerRequests(c))
	}
	for _, c := range listAt(spec, "initContainers") {
		if textAt(c, "restartPolicy") == "Always" {
			add(sum, containerRequests(c))
			continue
		}
		for name, n := range containerRequests(c) {
			peak[name] = max(peak[name], n)
		}
	}
	for name, n := range peak {
		sum[name] = max(sum[name], n)
	}
	return sum
}

// containerRequests: an extended resource's request is its limit, whichever is written.
func containerRequests(c any) map[string]int64 {
	out := extended(mapAt(c, "resources", "limits"))
	for name, n := range extended(mapAt(c, "resources", "requests")) {
		out[name] = n
	}
	return out
}

func add(to, from map[string]int64) {
	for name, n := range from {
		to[name] += n
	}
}
