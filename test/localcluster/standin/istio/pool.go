package istio

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/dataplane"
	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const roleLabel = "mif.moreh.io/role"

// judgePicker looks for the Service of a pool's endpoint picker.
func judgePicker(w *world, p *pool) problem {
	ref := p.spec.EndpointPickerRef.Name
	if pickerService(w, p) == nil && ref != "" {
		return problem{"InvalidExtensionRef", fmt.Sprintf("Service %s/%s not found", p.live.GetNamespace(), ref)}
	}
	return problem{}
}

func pickerService(w *world, p *pool) *corev1.Service {
	for _, s := range w.services {
		if s.Namespace == p.live.GetNamespace() && s.Name == p.spec.EndpointPickerRef.Name {
			return s
		}
	}
	return nil
}

// ranks turns a pool into what the data path needs: every target port of every ready pod, by role.
func ranks(w *world, p *pool, twin func(string) string) *dataplane.Pool {
	out := &dataplane.Pool{Name: p.live.GetName(), Down: pickerDown(w, p)}
	for _, pod := range w.podsOf(p.live.GetNamespace(), p.spec.Selector.MatchLabels) {
		if !reconcile.PodReady(pod) {
			continue
		}
		for _, port := range p.spec.TargetPorts {
			rank := net.JoinHostPort(twin(pod.Status.PodIP), strconv.Itoa(port.Number))
			switch pod.Labels[roleLabel] {
			case "prefill":
				out.Prefill = append(out.Prefill, rank)
			case "", "decode", "both":
				out.Decode = append(out.Decode, rank)
			}
		}
	}
	slices.Sort(out.Prefill)
	slices.Sort(out.Decode)
	return out
}

// pickerDown says why no endpoint can be picked: a pool that fails closed needs its picker.
func pickerDown(w *world, p *pool) string {
	if p.spec.EndpointPickerRef.FailureMode == "FailOpen" {
		return ""
	}
	s := pickerService(w, p)
	if s == nil {
		return fmt.Sprintf("endpoint picker of pool %s: Service %s not found", p.live.GetName(), p.spec.EndpointPickerRef.Name)
	}
	for _, pod := range w.podsOf(s.Namespace, s.Spec.Selector) {
		if reconcile.PodReady(pod) {
			return ""
		}
	}
	return fmt.Sprintf("endpoint picker of pool %s: no pod behind Service %s is ready", p.live.GetName(), s.Name)
}
