package kube

import "strings"

// supply says which chart or manifest brings the kinds of an API group.
type supply struct{ group, from string }

// suppliers is the table of the kinds that the published stack needs beyond Kubernetes' own.
func suppliers() []supply {
	return []supply{
		{"gateway.networking.k8s.io", "the Gateway API CRDs (v1.5.1, standard channel) supply it"},
		{"inference.networking.k8s.io", "the Gateway API inference extension CRDs (v1.1.0 or newer, published with v1.4.0) supply it"},
		{"inference.networking.x-k8s.io", "the Gateway API inference extension CRDs supply it; EndpointPickerConfig, though, is a file format and no object"},
		{"networking.istio.io", "the Istio chart base (1.29.1, at least 1.28.1) supplies it"},
		{"security.istio.io", "the Istio chart base supplies it"},
		{"telemetry.istio.io", "the Istio chart base supplies it"},
		{"monitoring.coreos.com", "the Prometheus operator CRDs (chart prometheus-operator-crds or kube-prometheus-stack) supply it"},
		{"odin.moreh.io", "the chart odin-crd (v0.8.0 or newer) supplies it; moai-inference-framework v0.4.0 contains it"},
		{"odin.mif.ai", "this is the group's old name: write odin.moreh.io/v1alpha1"},
		{"leaderworkerset.x-k8s.io", "the chart lws (0.8.0) supplies it; moai-inference-framework v0.4.0 contains it"},
		{"cert-manager.io", "the chart cert-manager (v1.18.4) supplies it"},
		{"keda.sh", "the chart keda (2.18.0) supplies it"},
		{"heimdall.moreh.io", "the chart of the Heimdall operator supplies it; the scheduler chart heimdall v0.7.1 does not"},
		{"nfd.k8s-sigs.io", "the chart node-feature-discovery (0.18.3) supplies it"},
	}
}

// supplier is the way out of a missing kind, one sentence.
func supplier(apiVersion, kind string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	for _, s := range suppliers() {
		if s.group == group {
			return s.from
		}
	}
	if !strings.Contains(group, ".") {
		return "check the spelling of apiVersion and kind"
	}
	return "install the chart that brings the CRD of " + kind + " in " + group + ", or add it to this configuration"
}
