package kube

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Pod is what run needs to know of a pod: identity, place, and whether it is the one it was.
type Pod struct {
	Namespace, Name, UID string
	Node, IP, Phase      string
	Ready                bool
	Restarts             int
	Labels               map[string]string
	// Images maps containers to the image id that the node reports (the spec's image until then).
	Images map[string]string
	// Ports are the declared container ports.
	Ports []int
}

// selectorOf is the label selector of the pods behind an object, "" when the kind has none.
func selectorOf(id resource.ID, obj map[string]any) string {
	switch id.Kind {
	case "LeaderWorkerSet":
		return "leaderworkerset.sigs.k8s.io/name=" + id.Name
	case "InferenceService":
		return "app.kubernetes.io/name=" + id.Name
	case "Gateway":
		return "gateway.networking.k8s.io/gateway-name=" + id.Name
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
		raw, ok, _ := unstructured.NestedMap(obj, "spec", "selector")
		if !ok {
			return ""
		}
		return labelSelector(raw)
	case "InferencePool", "Service":
		m, _, _ := unstructured.NestedStringMap(obj, "spec", "selector", "matchLabels")
		if id.Kind == "Service" {
			m, _, _ = unstructured.NestedStringMap(obj, "spec", "selector")
		}
		if len(m) > 0 {
			return labels.SelectorFromSet(m).String()
		}
	}
	return ""
}

func labelSelector(raw map[string]any) string {
	var s metav1.LabelSelector
	if err := fromUnstructured(raw, &s); err != nil {
		return ""
	}
	return metav1.FormatLabelSelector(&s)
}

// podsOf lists the pods behind obj as the server has them.
func (d *Driver) podsOf(ctx context.Context, id resource.ID, obj map[string]any) ([]map[string]any, error) {
	if id.Kind == "Pod" {
		if obj == nil {
			return nil, nil
		}
		return []map[string]any{obj}, nil
	}
	selector := selectorOf(id, obj)
	if selector == "" {
		return nil, nil
	}
	out, err := d.Objects(ctx, "v1", "Pod", id.Namespace, selector)
	if err != nil || len(out) > 0 || id.Kind != "InferenceService" {
		return out, err
	}
	return d.Objects(ctx, "v1", "Pod", id.Namespace, "mif.moreh.io/inferenceservice="+id.Name)
}

// Objects lists objects of one kind as the server has them; "" means all namespaces and no selector.
func (d *Driver) Objects(ctx context.Context, apiVersion, kind, namespace, selector string) ([]map[string]any, error) {
	if _, err := d.kinds.lookup(ctx, apiVersion, kind); err != nil {
		return nil, err
	}
	var out []map[string]any
	err := d.Each(ctx, Query{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Labels: selector}, func(o map[string]any) { out = append(out, o) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PodsOf lists the pods behind a workload, a Service, an InferencePool, an InferenceService or
// a Gateway, by name. An object that does not exist has none.
func (d *Driver) PodsOf(ctx context.Context, id resource.ID) ([]Pod, error) {
	obj, err := d.get(ctx, id)
	if err != nil || obj == nil {
		return nil, err
	}
	list, err := d.podsOf(ctx, id, obj)
	if err != nil {
		return nil, err
	}
	out := make([]Pod, 0, len(list))
	for _, m := range list {
		var p corev1.Pod
		if err := fromUnstructured(m, &p); err != nil {
			return nil, fmt.Errorf("pods of %s: %w", id, err)
		}
		out = append(out, summary(&p))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

func summary(p *corev1.Pod) Pod {
	out := Pod{
		Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Spec.NodeName, IP: p.Status.PodIP,
		Phase: string(p.Status.Phase), Labels: p.Labels, Images: map[string]string{},
	}
	for _, c := range append(append([]corev1.Container{}, p.Spec.InitContainers...), p.Spec.Containers...) {
		out.Images[c.Name] = c.Image
		for _, port := range c.Ports {
			out.Ports = append(out.Ports, int(port.ContainerPort))
		}
	}
	for _, c := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		out.Restarts += int(c.RestartCount)
		if c.ImageID != "" {
			out.Images[c.Name] = c.ImageID
		}
	}
	for _, c := range p.Status.Conditions {
		out.Ready = out.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return out
}

// Log returns the last lines of a container's log, of its previous run when previous is set.
func (d *Driver) Log(ctx context.Context, namespace, pod, container string, lines int64, previous bool) ([]string, error) {
	req := d.typed.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, TailLines: &lines, Previous: previous})
	stream, err := req.Stream(ctx)
	if err != nil {
		return nil, d.explain("read the log of container "+container+" of", resource.ID{Kind: "Pod", Namespace: namespace, Name: pod}, err)
	}
	defer stream.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		return nil, fmt.Errorf("log of pod %s/%s: %w", namespace, pod, err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n"), nil
}

// Event is one event of an object, newest last.
type Event struct {
	Warning         bool
	Reason, Message string
	Count           int
	Last            time.Time
}

// Events lists the events of the object with that UID, newest last.
func (d *Driver) Events(ctx context.Context, namespace, uid string) ([]Event, error) {
	list, err := d.typed.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + uid, Limit: pageSize})
	if err != nil {
		return nil, d.explain("list the events in", resource.ID{Kind: "Namespace", Name: namespace}, err)
	}
	out := make([]Event, 0, len(list.Items))
	for _, e := range list.Items {
		last := e.LastTimestamp.Time
		if last.IsZero() {
			last = e.EventTime.Time
		}
		if last.IsZero() {
			last = e.CreationTimestamp.Time
		}
		out = append(out, Event{Warning: e.Type == corev1.EventTypeWarning, Reason: e.Reason, Message: e.Message, Count: int(e.Count), Last: last})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Last.Before(out[j].Last) })
	return out, nil
}
