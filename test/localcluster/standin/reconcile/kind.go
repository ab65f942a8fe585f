package reconcile

import "k8s.io/apimachinery/pkg/runtime/schema"

// Kind is a resource together with the name of its objects' kind.
type Kind struct {
	schema.GroupVersionResource
	Name string
}

func kind(group, version, resource, name string) Kind {
	return Kind{schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, name}
}

// GVK returns the group, version and kind.
func (k Kind) GVK() schema.GroupVersionKind { return k.GroupVersion().WithKind(k.Name) }

// Pods is the core kind Pod.
func Pods() Kind { return kind("", "v1", "pods", "Pod") }

// Services is the core kind Service.
func Services() Kind { return kind("", "v1", "services", "Service") }

// ServiceAccounts is the core kind ServiceAccount.
func ServiceAccounts() Kind { return kind("", "v1", "serviceaccounts", "ServiceAccount") }

// ConfigMaps is the core kind ConfigMap.
func ConfigMaps() Kind { return kind("", "v1", "configmaps", "ConfigMap") }

// Secrets is the core kind Secret.
func Secrets() Kind { return kind("", "v1", "secrets", "Secret") }

// Namespaces is the core kind Namespace; its objects are in no namespace.
func Namespaces() Kind { return kind("", "v1", "namespaces", "Namespace") }

// Events is the core kind Event.
func Events() Kind { return kind("", "v1", "events", "Event") }

// Deployments is kind Deployment of group apps.
func Deployments() Kind { return kind("apps", "v1", "deployments", "Deployment") }

// GatewayClasses is the Gateway API's kind GatewayClass; its objects are in no namespace.
func GatewayClasses() Kind {
	return kind("gateway.networking.k8s.io", "v1", "gatewayclasses", "GatewayClass")
}

// Gateways is the Gateway API's kind Gateway.
func Gateways() Kind { return kind("gateway.networking.k8s.io", "v1", "gateways", "Gateway") }

// HTTPRoutes is the Gateway API's kind HTTPRoute.
func HTTPRoutes() Kind { return kind("gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute") }

// InferencePools is the inference extension's kind InferencePool.
func InferencePools() Kind {
	return kind("inference.networking.k8s.io", "v1", "inferencepools", "InferencePool")
}

// LeaderWorkerSets is kind LeaderWorkerSet.
func LeaderWorkerSets() Kind {
	return kind("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet")
}

// InferenceServices is Odin's kind InferenceService.
func InferenceServices() Kind {
	return kind("odin.moreh.io", "v1alpha1", "inferenceservices", "InferenceService")
}

// InferenceServiceTemplates is Odin's kind InferenceServiceTemplate.
func InferenceServiceTemplates() Kind {
	return kind("odin.moreh.io", "v1alpha1", "inferenceservicetemplates", "InferenceServiceTemplate")
}

// MutatingWebhooks is the registration of webhooks that change objects; its objects are in no namespace.
func MutatingWebhooks() Kind {
	return kind("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
}

// ValidatingWebhooks is the registration of webhooks that refuse objects; its objects are in no namespace.
func ValidatingWebhooks() Kind {
	return kind("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
}
