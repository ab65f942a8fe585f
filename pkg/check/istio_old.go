package check

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

func istioOld() Check {
	return Check{
		Code: "MIF105", About: "istiod", Title: "Istio does not fit the inference extension", Severity: doubt,
		Why: "istiod serves InferencePools only with ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true, and 1.28.0 sends all requests to the first of several target ports.",
		Fix: "Set pilot.env.ENABLE_GATEWAY_API_INFERENCE_EXTENSION=\"true\" in the chart istiod, and use 1.28.1 or newer (1.29.1 is documented).",
		Look: func(m *Model, w *World) (o Outcome) {
			for _, g := range m.gateways {
				if g.class != "istio" || len(m.byGateway[g.place]) == 0 {
					continue
				}
				list, gap := w.controller(m, istiod)
				if gap != "" {
					o.skip("%s", gap)
					return o
				}
				for _, d := range list {
					judgeIstio(m, g, d, &o)
				}
				return o
			}
			return o
		},
	}
}

func judgeIstio(m *Model, g gateway, deployment map[string]any, o *Outcome) {
	name := textAt(deployment, "metadata", "namespace") + "/" + textAt(deployment, "metadata", "name")
	pilot := mapAt(listAt(deployment, "spec", "template", "spec", "containers"), "0")
	if !envIs(pilot, "ENABLE_GATEWAY_API_INFERENCE_EXTENSION", "true") {
		o.find(finding(g.resource, "class", fmt.Sprintf("The Deployment %s runs without ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true: routes to an InferencePool are not resolved.", name)))
		return
	}
	image := textAt(pilot, "image")
	version := imageVersion(image)
	several := false
	for _, s := range m.byGateway[g.place] {
		several = several || len(targetPorts(s)) > 1
	}
	switch {
	case version == nil:
		o.skip("the version of %s: its image %s does not tell", name, image)
	case several && version.LessThan(semver.MustParse("1.28.1")):
		o.find(finding(g.resource, "class", fmt.Sprintf("The Deployment %s is istiod %s, and the pool lists several target ports.", name, version)))
	default:
		o.seen("%s is %s with the inference extension switched on", name, version)
	}
}

func envIs(container map[string]any, name, value string) bool {
	for _, e := range listAt(container, "env") {
		if textAt(e, "name") == name {
			return strings.EqualFold(textAt(e, "value"), value)
		}
	}
	return false
}

// imageVersion is the version that an image's tag tells, nil when it tells none.
func imageVersion(image string) *semver.Version {
	name, _, _ := strings.Cut(image, "@")
	_, tag, ok := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if !ok {
		return nil
	}
	v, err := semver.NewVersion(tag)
	if err != nil {
		return nil
	}
	if core, err := v.SetPrerelease(""); err == nil { // 1.29.1-distroless is 1.29.1
		return &core
	}
	return v
}
