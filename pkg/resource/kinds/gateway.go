package kinds

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Gateway are the options of a gateway block.
type Gateway struct {
	Namespace      string            `hcl:"namespace" doc:"Namespace of the Gateway."`
	Name           *string           `hcl:"name,optional" doc:"Name of the Gateway; the block's label when absent."`
	Class          string            `hcl:"class" doc:"GatewayClass, e.g. istio or kgateway."`
	Labels         map[string]string `hcl:"labels,optional" doc:"Labels of the Gateway."`
	Annotations    map[string]string `hcl:"annotations,optional" doc:"Annotations of the Gateway."`
	Listeners      []Listener        `hcl:"listener,block" doc:"Ports that the Gateway listens on."`
	Infrastructure *Infrastructure   `hcl:"infrastructure,block" doc:"Overlay of the objects that the gateway controller makes; becomes the ConfigMap that parametersRef points at."`
}

// Listener is one listener block of a gateway.
type Listener struct {
	Name          string  `hcl:"name,label" doc:"Name of the listener."`
	Protocol      string  `hcl:"protocol" doc:"Protocol." enum:"HTTP,HTTPS,TLS,TCP,UDP"`
	Port          int64   `hcl:"port" doc:"Port, 1 to 65535."`
	Hostname      *string `hcl:"hostname,optional" doc:"Host name to match; all when absent."`
	AllowedRoutes *string `hcl:"allowed_routes,optional" doc:"Namespaces whose routes may attach." enum:"All,Same"`
}

// Infrastructure is the infrastructure block of a gateway: overlays by object kind. Null
// inside an overlay is kept: it deletes what the controller would set.
type Infrastructure struct {
	ConfigMap               *string   `hcl:"config_map,optional" doc:"Name of the ConfigMap; <gateway>-gateway-infrastructure when absent."`
	Service                 cty.Value `hcl:"service,optional" doc:"Overlay of the Service."`
	Deployment              cty.Value `hcl:"deployment,optional" doc:"Overlay of the Deployment."`
	ServiceAccount          cty.Value `hcl:"service_account,optional" doc:"Overlay of the ServiceAccount."`
	HorizontalPodAutoscaler cty.Value `hcl:"horizontal_pod_autoscaler,optional" doc:"Overlay of the HorizontalPodAutoscaler."`
	PodDisruptionBudget     cty.Value `hcl:"pod_disruption_budget,optional" doc:"Overlay of the PodDisruptionBudget."`
}

// overlays names the overlay attributes and the ConfigMap keys that Istio reads them from.
func (i *Infrastructure) overlays() map[string]overlay {
	return map[string]overlay{
		"service":                 {"infrastructure.service", i.Service},
		"deployment":              {"infrastructure.deployment", i.Deployment},
		"serviceAccount":          {"infrastructure.service_account", i.ServiceAccount},
		"horizontalPodAutoscaler": {"infrastructure.horizontal_pod_autoscaler", i.HorizontalPodAutoscaler},
		"podDisruptionBudget":     {"infrastructure.pod_disruption_budget", i.PodDisruptionBudget},
	}
}

type overlay struct {
	path  string
	value cty.Value
}

func expandGateway(s resource.Scope, o *Gateway) (resource.Expansion, hcl.Diagnostics) {
	name := orDefault(o.Name, s.Address.Name)
	diags := checkDNSLabel(s, "name", name)
	listeners, d := gatewayListeners(s, o.Listeners)
	diags = append(diags, d...)
	spec := map[string]any{"gatewayClassName": o.Class, "listeners": listeners}

	var objects []resource.Object
	if o.Infrastructure != nil {
		cm, d := infrastructureConfigMap(s, o, name)
		diags = append(diags, d...)
		objects = append(objects, cm)
		spec["infrastructure"] = map[string]any{"parametersRef": map[string]any{
			"group": "", "kind": "ConfigMap", "name": cm.ID.Name,
		}}
	}
	gw := object(s, "gateway.networking.k8s.io/v1", "Gateway", o.Namespace, name, map[string]any{"spec": spec})
	setMeta(gw, "labels", o.Labels)
	setMeta(gw, "annotations", o.Annotations)
	return resource.Expansion{Objects: append(objects, gw), Attrs: gatewayAttrs(o, name)}, diags
}

// gatewayAttrs: the address is the controller's to give, so url is known only after apply;
// the name of the Service is the controllers' fixed rule <gateway>-<class>.
func gatewayAttrs(o *Gateway, name string) map[string]cty.Value {
	a := attrs(map[string]string{
		"name": name, "namespace": o.Namespace, "class": o.Class,
		"service": name + "-" + o.Class,
		"host":    fmt.Sprintf("%s-%s.%s.svc.cluster.local", name, o.Class, o.Namespace),
	})
	a["url"] = cty.UnknownVal(cty.String)
	return a
}

func gatewayListeners(s resource.Scope, in []Listener) ([]any, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	if len(in) == 0 {
		diags = diags.Append(s.Error("", "Gateway without a listener", "A gateway needs at least one listener block, for example: listener \"http\" { protocol = \"HTTP\", port = 80 }."))
	}
	seen := map[string]bool{}
	out := make([]any, 0, len(in))
	for _, l := range in {
		path := "listener." + l.Name
		if seen[l.Name] {
			diags = diags.Append(s.Error(path, "Duplicate listener", fmt.Sprintf("There are two listeners named %q; names must differ within a gateway.", l.Name)))
		}
		seen[l.Name] = true
		if l.Port < 1 || l.Port > 65535 {
			diags = diags.Append(s.Error(path+".port", "Port out of range", fmt.Sprintf("%d is not a port; use 1 to 65535.", l.Port)))
		}
		out = append(out, listenerSpec(l))
	}
	return out, diags
}

func listenerSpec(l Listener) map[string]any {
	m := map[string]any{"name": l.Name, "protocol": l.Protocol, "port": l.Port}
	if l.Hostname != nil {
		m["hostname"] = *l.Hostname
	}
	if l.AllowedRoutes != nil {
		m["allowedRoutes"] = map[string]any{"namespaces": map[string]any{"from": *l.AllowedRoutes}}
	}
	return m
}

func infrastructureConfigMap(s resource.Scope, o *Gateway, name string) (resource.Object, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	data := map[string]any{}
	overlays := o.Infrastructure.overlays()
	keys := make([]string, 0, len(overlays))
	for k := range overlays {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, key := range keys {
		ov := overlays[key]
		m, d := jsonMapAttr(s, ov.path, ov.value)
		diags = append(diags, d...)
		if m == nil {
			continue
		}
		text, err := yaml.Marshal(m)
		if err != nil {
			panic(fmt.Sprintf("overlay %s: JSON values do not marshal: %v", key, err))
		}
		data[key] = strings.TrimPrefix(string(text), "---\n")
	}
	cmName := orDefault(o.Infrastructure.ConfigMap, name+"-gateway-infrastructure")
	return object(s, "v1", "ConfigMap", o.Namespace, cmName, map[string]any{"data": data}), diags
}
