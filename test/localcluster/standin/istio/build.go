package istio

import (
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	gatewayLabel = "gateway.networking.k8s.io/gateway-name"
	classLabel   = "gateway.networking.k8s.io/gateway-class-name"
	managedLabel = "gateway.istio.io/managed"
	proxyImage   = "localcluster.invalid/stand-in/istio-proxy:1"
	statusPort   = 15021
)

// generated is an object that a Gateway brings into being.
type generated struct {
	kind reconcile.Kind
	obj  *unstructured.Unstructured
}

// objectName is the name of everything generated for a Gateway: <gateway>-<class>.
func objectName(g *gateway) string { return g.live.GetName() + "-" + ClassName }

// build makes the objects of a Gateway with the overlays of its parameters merged in; address is announced on the
// Service. The service type is returned also when an overlay is wrong.
func build(g *gateway, address string) ([]generated, corev1.ServiceType, error) {
	meta := metav1.ObjectMeta{
		Name: objectName(g), Namespace: g.live.GetNamespace(), Labels: objectLabels(g),
		OwnerReferences: []metav1.OwnerReference{reconcile.Owner(reconcile.Gateways(), g.live)},
	}
	var data map[string]string
	if g.params != nil {
		data = g.params.Data
	}
	account, err := reconcile.Object(reconcile.ServiceAccounts(), &corev1.ServiceAccount{ObjectMeta: meta})
	if err != nil {
		return nil, "", err
	}
	svc := service(g, meta, address)
	exposure := svc.Spec.Type
	s, err := overlay(reconcile.Services(), svc, "service", data["service"])
	if err != nil {
		return nil, exposure, err
	}
	if t, ok := nested(s.Object, "spec", "type").(string); ok {
		exposure = corev1.ServiceType(t)
	}
	d, err := overlay(reconcile.Deployments(), deployment(g, meta), "deployment", data["deployment"])
	if err != nil {
		return nil, exposure, err
	}
	return []generated{{reconcile.ServiceAccounts(), account}, {reconcile.Services(), s}, {reconcile.Deployments(), d}}, exposure, nil
}

func objectLabels(g *gateway) map[string]string {
	l := map[string]string{}
	if g.spec.Infrastructure != nil {
		maps.Copy(l, g.spec.Infrastructure.Labels)
	}
	l[gatewayLabel], l[classLabel], l[managedLabel] = g.live.GetName(), ClassName, "istio.io-gateway-controller"
	return l
}

func service(g *gateway, meta metav1.ObjectMeta, address string) *corev1.Service {
	meta.Annotations = map[string]string{AddressAnnotation: address}
	ports := []corev1.ServicePort{{Name: "status-port", Port: statusPort, TargetPort: intstr.FromInt32(statusPort), Protocol: corev1.ProtocolTCP}}
	for _, l := range g.spec.Listeners {
		p := int32(l.Port)
		ports = append(ports, corev1.ServicePort{Name: l.Name, Port: p, TargetPort: intstr.FromInt32(p), Protocol: corev1.ProtocolTCP})
	}
	return &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, Ports: ports, Selector: map[string]string{gatewayLabel: g.live.GetName()},
	}}
}

func deployment(g *gateway, meta metav1.ObjectMeta) *appsv1.Deployment {
	one := int32(1)
	selector := map[string]string{gatewayLabel: g.live.GetName()}
	ports := []corev1.ContainerPort{{Name: "status-port", ContainerPort: statusPort}}
	for _, l := range g.spec.Listeners {
		ports = append(ports, corev1.ContainerPort{ContainerPort: int32(l.Port)})
	}
	// Istio gives its proxy requests and limits; the published overlay deletes the limits.
	res := corev1.ResourceRequirements{
		Requests: resources("100m", "128Mi"),
		Limits:   resources("2", "1Gi"),
	}
	return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: &one,
		Selector: &metav1.LabelSelector{MatchLabels: selector},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(meta.Labels)},
			Spec: corev1.PodSpec{
				ServiceAccountName: meta.Name,
				Containers:         []corev1.Container{{Name: "istio-proxy", Image: proxyImage, Ports: ports, Resources: res}},
			},
		},
	}}
}

// overlay merges a YAML text into an object as a strategic merge patch, in which null deletes; text is the value of a
// ConfigMap's key.
func overlay(k reconcile.Kind, obj any, key, text string) (*unstructured.Unstructured, error) {
	u, err := reconcile.Object(k, obj)
	if err != nil || text == "" {
		return u, err
	}
	patch, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("key %q of the parameters is not YAML: %w", key, err)
	}
	var isObject map[string]any
	if err := json.Unmarshal(patch, &isObject); err != nil {
		return nil, fmt.Errorf("key %q of the parameters is not a YAML mapping", key)
	}
	original, err := json.Marshal(u.Object)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(original, patch, obj)
	if err != nil {
		return nil, fmt.Errorf("key %q of the parameters cannot be merged into the %s: %w", key, k.Name, err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(merged); err != nil {
		return nil, fmt.Errorf("key %q of the parameters: %w", key, err)
	}
	return out, nil
}
