package kube

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// serverMeta are the fields of metadata that only the server writes.
func serverMeta() []string {
	return []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"}
}

// bookkeeping are annotations that tell nothing about the object's behaviour.
func bookkeeping() []string {
	return []string{
		"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision",
		AddressAnnotation, CreatedAnnotation, DependsOnAnnotation,
	}
}

// normalise is a copy of obj without what must never be compared: status, the server's own
// metadata, bookkeeping annotations; nil stays nil.
func normalise(obj map[string]any) map[string]any {
	if obj == nil {
		return nil
	}
	out := runtime.DeepCopyJSON(obj)
	delete(out, "status")
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	for _, k := range serverMeta() {
		delete(meta, k)
	}
	if notes, ok := meta["annotations"].(map[string]any); ok {
		for _, k := range bookkeeping() {
			delete(notes, k)
		}
		if len(notes) == 0 {
			delete(meta, "annotations")
		}
	}
	return out
}

func metaOf(obj map[string]any) map[string]any {
	m, _ := obj["metadata"].(map[string]any)
	return m
}

func metaString(obj map[string]any, key string) string {
	s, _ := metaOf(obj)[key].(string)
	return s
}

func annotation(obj map[string]any, key string) string {
	notes, _ := metaOf(obj)["annotations"].(map[string]any)
	s, _ := notes[key].(string)
	return s
}

// pointerSteps splits a JSON pointer (RFC 6901); a missing leading slash is forgiven.
func pointerSteps(p string) []string {
	p = strings.TrimPrefix(p, "/")
	if p == "" {
		return nil
	}
	steps := strings.Split(p, "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return steps
}
