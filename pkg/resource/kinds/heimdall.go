package kinds

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Heimdall are the options of a heimdall block.
type Heimdall struct {
	Namespace        string      `hcl:"namespace" doc:"Namespace of the release, its InferencePool and HTTPRoute."`
	Name             *string     `hcl:"name,optional" doc:"Release name; the block's label when absent."`
	Repository       string      `hcl:"repository" doc:"Chart repository URL, oci:// reference, directory of charts or archives, or .tgz."`
	Chart            *string     `hcl:"chart,optional" doc:"Chart name in the repository." default:"heimdall"`
	Version          string      `hcl:"version" doc:"Chart version or SemVer range; pinned with its digest at plan."`
	Gateway          string      `hcl:"gateway" doc:"Name of the Gateway that the HTTPRoute attaches to."`
	GatewayNamespace *string     `hcl:"gateway_namespace,optional" doc:"Namespace of the Gateway; the release's when absent."`
	GatewayClass     string      `hcl:"gateway_class" doc:"GatewayClass of that Gateway; the chart adds a DestinationRule for istio."`
	ImagePullSecrets []string    `hcl:"image_pull_secrets,optional" doc:"Names of pull secrets."`
	TargetPorts      []int64     `hcl:"target_ports,optional" doc:"Engine ports of the InferencePool, one per data-parallel rank; at most 8."`
	Plugins          []Plugin    `hcl:"plugin,block" doc:"Plugins of the endpoint picker, by type."`
	Profiles         []Profile   `hcl:"scheduling_profile,block" doc:"Scheduling profiles, by name."`
	FeatureGates     []string    `hcl:"feature_gates,optional" doc:"Feature gates of the endpoint picker."`
	Saturation       *Saturation `hcl:"saturation_detector,block" doc:"Limits beyond which an endpoint counts as saturated."`
	Values           cty.Value   `hcl:"values,optional" doc:"Raw Helm values, merged last: maps deeply, lists replaced."`
	Atomic           *bool       `hcl:"atomic,optional" doc:"Roll back a failed install or upgrade (this destroys the evidence)." default:"false"`
	Username         *string     `hcl:"username,optional" doc:"User of a private repository."`
	Password         *string     `hcl:"password,optional" doc:"Password of a private repository; sensitive." sensitive:"true"`
}

// Plugin is one plugin block: a declaration of the endpoint picker.
type Plugin struct {
	Type       string    `hcl:"type,label" doc:"Plugin type."`
	Name       *string   `hcl:"name,optional" doc:"Name that profiles use; the type when absent."`
	Parameters cty.Value `hcl:"parameters,optional" doc:"Parameters of the plugin."`
}

// Ref is the name by which profiles refer to the plugin.
func (p Plugin) Ref() string { return orDefault(p.Name, p.Type) }

// Profile is one scheduling_profile block.
type Profile struct {
	Name string `hcl:"name,label" doc:"Profile name; a profile handler expects certain names."`
	Uses []Use  `hcl:"use,block" doc:"Plugins of the profile, in order: filters, scorers, picker."`
}

// Use is one use block of a profile.
type Use struct {
	Plugin string   `hcl:"plugin,label" doc:"Name of a declared plugin."`
	Weight *float64 `hcl:"weight,optional" doc:"Weight of a scorer; 1 when absent."`
}

// Saturation is the saturation_detector block.
type Saturation struct {
	QueueDepthThreshold       *int64   `hcl:"queue_depth_threshold,optional" doc:"Waiting requests."`
	KVCacheUtilThreshold      *float64 `hcl:"kv_cache_util_threshold,optional" doc:"Share of KV cache, 0 to 1."`
	MetricsStalenessThreshold *string  `hcl:"metrics_staleness_threshold,optional" doc:"Age of metrics, a duration."`
}

func expandHeimdall(s resource.Scope, o *Heimdall) (resource.Expansion, hcl.Diagnostics) {
	name := orDefault(o.Name, s.Address.Name)
	diags := checkDNSLabel(s, "name", name)
	values, d := heimdallValues(s, o)
	diags = append(diags, d...)
	rel := release(s, o.Namespace, name, resource.ReleaseSpec{
		Repository: o.Repository, Chart: orDefault(o.Chart, "heimdall"), Version: o.Version,
		Values: values, Wait: true, Atomic: isTrue(o.Atomic),
		Username: orDefault(o.Username, ""), Password: orDefault(o.Password, ""),
	})
	return resource.Expansion{
		Objects: []resource.Object{rel},
		Attrs: attrs(map[string]string{
			"name": name, "namespace": o.Namespace, "pool": chartFullname("heimdall", name, values),
		}),
	}, diags
}

func heimdallValues(s resource.Scope, o *Heimdall) (map[string]any, hcl.Diagnostics) {
	config, diags := pickerConfig(s, o)
	gateway := map[string]any{"name": o.Gateway, "gatewayClassName": o.GatewayClass}
	if o.GatewayNamespace != nil {
		gateway["namespace"] = *o.GatewayNamespace
	}
	values := map[string]any{"gateway": gateway}
	if config != nil {
		values["config"] = config
	}
	if len(o.ImagePullSecrets) > 0 {
		values["global"] = map[string]any{"imagePullSecrets": named(o.ImagePullSecrets)}
	}
	if len(o.TargetPorts) > 0 {
		values["inferencePool"] = map[string]any{"targetPorts": numbered(o.TargetPorts)}
	}
	raw, d := jsonMapAttr(s, "values", o.Values)
	return merge(values, raw), append(diags, d...)
}

// pickerConfig is the EndpointPickerConfig, nil when the block declares no plugin and no
// profile: then the chart's own default stands.
func pickerConfig(s resource.Scope, o *Heimdall) (map[string]any, hcl.Diagnostics) {
	if len(o.Plugins) == 0 && len(o.Profiles) == 0 {
		return nil, nil
	}
	var diags hcl.Diagnostics
	plugins := make([]any, 0, len(o.Plugins))
	for _, p := range o.Plugins {
		m := map[string]any{"type": p.Type}
		if p.Name != nil {
			m["name"] = *p.Name
		}
		params, d := jsonMapAttr(s, "plugin."+p.Type+".parameters", p.Parameters)
		diags = append(diags, d...)
		if params != nil {
			m["parameters"] = params
		}
		plugins = append(plugins, m)
	}
	config := map[string]any{
		"apiVersion": "inference.networking.x-k8s.io/v1alpha1", "kind": "EndpointPickerConfig",
		"plugins": plugins, "schedulingProfiles": profilesSpec(o.Profiles),
	}
	if len(o.FeatureGates) > 0 {
		config["featureGates"] = anyList(o.FeatureGates)
	}
	if sat := saturationSpec(o.Saturation); sat != nil {
		config["saturationDetector"] = sat
	}
	return config, diags
}

func profilesSpec(in []Profile) []any {
	out := make([]any, 0, len(in))
	for _, p := range in {
		uses := make([]any, 0, len(p.Uses))
		for _, u := range p.Uses {
			m := map[string]any{"pluginRef": u.Plugin}
			if u.Weight != nil {
				m["weight"] = number(*u.Weight)
			}
			uses = append(uses, m)
		}
		out = append(out, map[string]any{"name": p.Name, "plugins": uses})
	}
	return out
}

func saturationSpec(o *Saturation) map[string]any {
	if o == nil {
		return nil
	}
	m := map[string]any{}
	if o.QueueDepthThreshold != nil {
		m["queueDepthThreshold"] = *o.QueueDepthThreshold
	}
	if o.KVCacheUtilThreshold != nil {
		m["kvCacheUtilThreshold"] = *o.KVCacheUtilThreshold
	}
	if o.MetricsStalenessThreshold != nil {
		m["metricsStalenessThreshold"] = *o.MetricsStalenessThreshold
	}
	return m
}

// number keeps whole numbers whole, so that 1 stays 1 in YAML.
func number(f float64) any {
	if f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

func named(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = map[string]any{"name": n}
	}
	return out
}

func numbered(ports []int64) []any {
	out := make([]any, len(ports))
	for i, p := range ports {
		out[i] = map[string]any{"number": p}
	}
	return out
}

// chartFullname is Helm's usual fullname rule, which names the pool and thereby the label on
// its pods: fullnameOverride, else the release name when it contains the chart's name, else
// release-chart; cut to 63.
func chartFullname(chart, releaseName string, values map[string]any) string {
	if v, ok := values["fullnameOverride"].(string); ok && v != "" {
		return cut(v)
	}
	if v, ok := values["nameOverride"].(string); ok && v != "" {
		chart = v
	}
	if strings.Contains(releaseName, chart) {
		return cut(releaseName)
	}
	return cut(releaseName + "-" + chart)
}

func cut(s string) string {
	if len(s) > maxName {
		s = s[:maxName]
	}
	return strings.TrimSuffix(s, "-")
}
