package istio

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

func watched() []reconcile.Kind {
	return []reconcile.Kind{
		reconcile.GatewayClasses(), reconcile.Gateways(), reconcile.HTTPRoutes(), reconcile.InferencePools(), reconcile.Namespaces(),
		reconcile.ConfigMaps(), reconcile.Services(), reconcile.Deployments(), reconcile.Pods(),
	}
}

type caches struct {
	classes, gateways, routes, pools, namespaces, configMaps, services, deployments, pods cache.GenericLister
}

func newCaches(c *reconcile.Cluster) caches {
	l := make([]cache.GenericLister, 0, len(watched()))
	for _, k := range watched() {
		l = append(l, c.Lister(k.GroupVersionResource))
	}
	return caches{l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8]}
}

// world is what one pass sees.
type world struct {
	gateways   []*gateway
	routes     []*route
	pools      []*pool
	pods       []*corev1.Pod
	services   []*corev1.Service
	nsLabels   map[string]map[string]string
	deployment map[string]*unstructured.Unstructured // by namespace/name
}

func (w *world) has(uid string) bool {
	return slices.ContainsFunc(w.gateways, func(g *gateway) bool { return g.uid() == uid })
}

func (w *world) gateway(namespace, name string) *gateway {
	for _, g := range w.gateways {
		if g.live.GetNamespace() == namespace && g.live.GetName() == name {
			return g
		}
	}
	return nil
}

func (w *world) pool(namespace, name string) *pool {
	for _, p := range w.pools {
		if p.live.GetNamespace() == namespace && p.live.GetName() == name {
			return p
		}
	}
	return nil
}

// podsOf returns the pods of a namespace that carry the labels; an empty selector selects none.
func (w *world) podsOf(namespace string, match map[string]string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range w.pods {
		if len(match) > 0 && p.Namespace == namespace && labels.SelectorFromSet(match).Matches(labels.Set(p.Labels)) {
			out = append(out, p)
		}
	}
	return out
}

// look reads the caches. Objects being deleted no longer count.
func (c caches) look() *world {
	w := &world{nsLabels: map[string]map[string]string{}, deployment: map[string]*unstructured.Unstructured{}}
	w.pods, w.services = typed[corev1.Pod](c.pods), typed[corev1.Service](c.services)
	for _, n := range reconcile.List(c.namespaces, "", nil) {
		w.nsLabels[n.GetName()] = n.GetLabels()
	}
	for _, d := range reconcile.List(c.deployments, "", nil) {
		w.deployment[d.GetNamespace()+"/"+d.GetName()] = d
	}
	for _, u := range sorted(c.gateways) {
		g := &gateway{live: u}
		if decodeSpec(u, &g.spec) == nil && g.spec.GatewayClassName == ClassName {
			g.params, g.problem = c.parameters(g)
			g.proxies = w.podsOf(u.GetNamespace(), map[string]string{gatewayLabel: u.GetName()})
			w.gateways = append(w.gateways, g)
		}
	}
	for _, u := range sorted(c.routes) {
		r := &route{live: u}
		if decodeSpec(u, &r.spec) == nil {
			w.routes = append(w.routes, r)
		}
	}
	for _, u := range sorted(c.pools) {
		p := &pool{live: u}
		if decodeSpec(u, &p.spec) == nil {
			p.picker = judgePicker(w, p)
			w.pools = append(w.pools, p)
		}
	}
	return w
}

// parameters finds the ConfigMap that a Gateway's infrastructure refers to.
func (c caches) parameters(g *gateway) (*corev1.ConfigMap, problem) {
	if g.spec.Infrastructure == nil || g.spec.Infrastructure.ParametersRef == nil {
		return nil, problem{}
	}
	ref := g.spec.Infrastructure.ParametersRef
	if ref.group() != "" || ref.Kind != "ConfigMap" {
		return nil, problem{"InvalidParameters", fmt.Sprintf("parametersRef must be a ConfigMap, not %s %q", ref.Kind, ref.group())}
	}
	u := reconcile.Get(c.configMaps, g.live.GetNamespace(), ref.Name)
	if u == nil {
		return nil, problem{"InvalidParameters", fmt.Sprintf("ConfigMap %s/%s not found", g.live.GetNamespace(), ref.Name)}
	}
	cm, err := reconcile.Into[corev1.ConfigMap](u)
	if err != nil {
		return nil, problem{"InvalidParameters", err.Error()}
	}
	return cm, problem{}
}

// sorted returns a kind's objects that are not being deleted, oldest first: the Gateway API's order of precedence.
func sorted(l cache.GenericLister) []*unstructured.Unstructured {
	out := reconcile.List(l, "", func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() == nil })
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int {
		ta, tb := a.GetCreationTimestamp(), b.GetCreationTimestamp()
		if n := ta.Compare(tb.Time); n != 0 {
			return n
		}
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return out
}

func typed[T any](l cache.GenericLister) []*T {
	var out []*T
	for _, u := range reconcile.List(l, "", nil) {
		// Objects of built-in kinds come from the API server, which has validated them.
		if t, err := reconcile.Into[T](u); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// decodeSpec reads what the CRD's schema has already validated; an error means a CRD of another version.
func decodeSpec(u *unstructured.Unstructured, into any) error {
	raw, err := json.Marshal(u.Object["spec"])
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// selects tells whether a label selector matches; one that cannot be read matches nothing.
func selects(s *metav1.LabelSelector, set map[string]string) bool {
	sel, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && sel.Matches(labels.Set(set))
}
