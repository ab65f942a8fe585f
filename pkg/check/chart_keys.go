package check

import "strings"

// heimdallValues are the keys of the chart's own values.yaml, nil for versions that are not
// known here. nil below a key takes any value.
func heimdallValues(version string) fields {
	if strings.TrimPrefix(version, "v") != "0.7.1" {
		return nil
	}
	image := fields{"repository": nil, "tag": nil, "pullPolicy": nil, "pullSecrets": nil}
	monitor := fields{"enabled": nil, "labels": nil, "interval": nil}
	return fields{
		"nameOverride": nil, "fullnameOverride": nil, "namespaceOverride": nil, "commonLabels": nil,
		"global": nil, "config": nil,
		"gateway":       {"name": nil, "namespace": nil, "gatewayClassName": nil, "labels": nil, "bbrHeader": nil, "bbrModel": nil},
		"inferencePool": {"matchLabels": nil, "targetPorts": {"number": nil}},
		"replicas":      nil, "image": image, "updateStrategy": nil,
		"podLabels": nil, "podAnnotations": nil, "command": nil, "args": nil, "extraArgs": nil, "extraEnvVars": nil,
		"containerPorts": {"grpc": nil, "grpcHealth": nil, "metrics": nil, "zmq": nil},
		"readinessProbe": nil, "resources": nil, "extraVolumeMounts": nil, "extraVolumes": nil,
		"nodeSelector": nil, "affinity": nil, "tolerations": nil,
		"serviceAccount": {"create": nil, "automount": nil, "annotations": nil, "name": nil},
		"serviceMonitor": monitor, "poolPodMonitor": monitor,
		"tracing":        {"enabled": nil, "exporter": {"endpoint": nil}, "sampler": {"type": nil, "argument": nil}},
		"udsTokenizer":   {"enabled": nil, "image": image, "command": nil, "args": nil, "extraEnvVars": nil, "resources": nil},
		"extraManifests": nil,
	}
}
