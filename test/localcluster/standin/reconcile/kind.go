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

// The kinds that stand-ins read or write.
func Pods() Kind            { return kind("", "v1", "pods", "Pod") }
func Services() Kind        { return kind("", "v1", "services", "Service") }
func ServiceAccounts() Kind { return kind("", "v1", "serviceaccounts", "ServiceAccount") }
func ConfigMaps() Kind      { return kind("", "v1", "configmaps", "ConfigMap") }
func Secrets() Kind         { return kind("", "v1", "secrets", "Secret") }
func Namespaces() Kind      { return kind("", "v1", "namespaces", "Namespace") }
func Events() Kind          { return kind("", "v1", "events", "Event") }
func Deployments() Kind     { return kind("apps", "v1", "deployments", "Deployment") }

// GatewayClasses and what follows are the Gateway API's and its inference extension's.
func GatewayClasses() Kind {
	return kind("gateway.networking.k8s.io", "v1", "gatewayclasses", "GatewayClass")
}
func Gateways() Kind   { return kind("gateway.networking.k8s.io", "v1", "gateways", "Gateway") }
func HTTPRoutes() Kind { return kind("gateway.networking.k8s.io", "v1", "httproutes", "HTTPRoute") }
func InferencePools() Kind {
	return kind("inference.networking.k8s.io", "v1", "inferencepools", "InferencePool")
}

// LeaderWorkerSets, InferenceServices and InferenceServiceTemplates are the workloads'.
func LeaderWorkerSets() Kind {
	return kind("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet")
}
func InferenceServices() Kind {
	return kind("odin.moreh.io", "v1alpha1", "inferenceservices", "InferenceService")
}
func InferenceServiceTemplates() Kind {
	return kind("odin.moreh.io", "v1alpha1", "inferenceservicetemplates", "InferenceServiceTemplate")
}

// MutatingWebhooks and ValidatingWebhooks are the API server's webhook registrations.
func MutatingWebhooks() Kind {
	return kind("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
}
func ValidatingWebhooks() Kind {
	return kind("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
}
