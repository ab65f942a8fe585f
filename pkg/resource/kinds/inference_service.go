package kinds

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Roles of an inference service.
const (
	RolePrefill = "prefill"
	RoleDecode  = "decode"
	RoleBoth    = "both"
)

// InferenceService are the options of an inference_service block.
type InferenceService struct {
	Namespace       string            `hcl:"namespace" doc:"Namespace of the service; the same as its pool's."`
	Name            *string           `hcl:"name,optional" doc:"Name of the InferenceService; the block's label when absent."`
	Role            *string           `hcl:"role,optional" doc:"What the instances do; the preset sets the pods' label, this drives the checks." enum:"prefill,decode,both"`
	Replicas        *int64            `hcl:"replicas,optional" doc:"Instances; leave out when an autoscaler owns the number."`
	Pool            *string           `hcl:"pool,optional" doc:"Name of the InferencePool that the pods join."`
	TemplateRefs    []string          `hcl:"template_refs,optional" doc:"InferenceServiceTemplates, merged left to right."`
	Framework       *string           `hcl:"framework,optional" doc:"Inference engine." enum:"vllm,sglang"`
	Model           *string           `hcl:"model,optional" doc:"Model name as served."`
	Parallelism     *Parallelism      `hcl:"parallelism,block" doc:"Parallelism of one instance."`
	RolloutStrategy cty.Value         `hcl:"rollout_strategy,optional" doc:"Rollout strategy as in the custom resource."`
	Template        cty.Value         `hcl:"template,optional" doc:"Pod template for bases that run as a Deployment."`
	WorkerTemplate  cty.Value         `hcl:"worker_template,optional" doc:"Pod template for *-dp and *-pp bases."`
	Labels          map[string]string `hcl:"labels,optional" doc:"Labels of the InferenceService."`
	Annotations     map[string]string `hcl:"annotations,optional" doc:"Annotations of the InferenceService."`
}

// Parallelism is the parallelism block.
type Parallelism struct {
	Tensor      *int64 `hcl:"tensor,optional" doc:"Tensor parallel size."`
	Pipeline    *int64 `hcl:"pipeline,optional" doc:"Pipeline parallel size."`
	Data        *int64 `hcl:"data,optional" doc:"Data parallel size."`
	DataLocal   *int64 `hcl:"data_local,optional" doc:"Data parallel ranks of one pod."`
	DataRPCPort *int64 `hcl:"data_rpc_port,optional" doc:"Port of the data parallel coordinator."`
	Expert      *bool  `hcl:"expert,optional" doc:"Expert parallelism."`
}

func expandInferenceService(s resource.Scope, o *InferenceService) (resource.Expansion, hcl.Diagnostics) {
	name := orDefault(o.Name, s.Address.Name)
	diags := checkDNSLabel(s, "name", name)
	if o.Replicas != nil && *o.Replicas < 0 {
		diags = diags.Append(s.Error("replicas", "Negative replicas", fmt.Sprintf("%d instances cannot be run; use 0 or more.", *o.Replicas)))
	}
	spec, d := inferenceSpec(s, o)
	diags = append(diags, d...)
	obj := object(s, "odin.moreh.io/v1alpha1", "InferenceService", o.Namespace, name, map[string]any{"spec": spec})
	setMeta(obj, "labels", o.Labels)
	setMeta(obj, "annotations", o.Annotations)
	a := attrs(map[string]string{"name": name, "namespace": o.Namespace, "role": orDefault(o.Role, "")})
	return resource.Expansion{Objects: []resource.Object{obj}, Attrs: a}, diags
}

func inferenceSpec(s resource.Scope, o *InferenceService) (map[string]any, hcl.Diagnostics) {
	spec := map[string]any{}
	if o.Replicas != nil {
		spec["replicas"] = *o.Replicas
	}
	if o.Pool != nil {
		spec["inferencePoolRefs"] = named([]string{*o.Pool})
	}
	if len(o.TemplateRefs) > 0 {
		spec["templateRefs"] = named(o.TemplateRefs)
	}
	if o.Framework != nil {
		spec["framework"] = *o.Framework
	}
	if o.Model != nil {
		spec["model"] = map[string]any{"name": *o.Model}
	}
	if p := parallelismSpec(o.Parallelism); len(p) > 0 {
		spec["parallelism"] = p
	}
	var diags hcl.Diagnostics
	for _, f := range []struct {
		attr, field string
		value       cty.Value
	}{
		{"rollout_strategy", "rolloutStrategy", o.RolloutStrategy},
		{"template", "template", o.Template},
		{"worker_template", "workerTemplate", o.WorkerTemplate},
	} {
		m, d := jsonMapAttr(s, f.attr, f.value)
		diags = append(diags, d...)
		if m != nil {
			spec[f.field] = m
		}
	}
	return spec, diags
}

func parallelismSpec(p *Parallelism) map[string]any {
	if p == nil {
		return nil
	}
	m := map[string]any{}
	for k, v := range map[string]*int64{
		"tensor": p.Tensor, "pipeline": p.Pipeline, "data": p.Data, "dataLocal": p.DataLocal, "dataRPCPort": p.DataRPCPort,
	} {
		if v != nil {
			m[k] = *v
		}
	}
	if p.Expert != nil {
		m["expert"] = *p.Expert
	}
	return m
}
