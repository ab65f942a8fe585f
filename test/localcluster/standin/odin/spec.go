package odin

import (
	corev1 "k8s.io/api/core/v1"
)

// Spec is the spec of an InferenceService and of an InferenceServiceTemplate. Its tags, and those of the pod template's
// types, drive the strategic merge.
type Spec struct {
	Replicas          *int32                  `json:"replicas,omitempty"`
	InferencePoolRefs []Ref                   `json:"inferencePoolRefs,omitempty"`
	TemplateRefs      []Ref                   `json:"templateRefs,omitempty"`
	Framework         *string                 `json:"framework,omitempty"`
	Model             *Model                  `json:"model,omitempty"`
	Parallelism       *Parallelism            `json:"parallelism,omitempty"`
	Service           *Service                `json:"service,omitempty"`
	RolloutStrategy   *RolloutStrategy        `json:"rolloutStrategy,omitempty"`
	HPAPodSelector    *string                 `json:"hpaPodSelector,omitempty"`
	Template          *corev1.PodTemplateSpec `json:"template,omitempty"`
	WorkerTemplate    *corev1.PodTemplateSpec `json:"workerTemplate,omitempty"`
}

// Ref names an InferencePool or an InferenceServiceTemplate.
type Ref struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name"`
}

// Model names what is served.
type Model struct {
	Name string `json:"name,omitempty"`
}

// Parallelism says how many devices a replica spans, and in which way.
type Parallelism struct {
	Tensor      *int32 `json:"tensor,omitempty"`
	Pipeline    *int32 `json:"pipeline,omitempty"`
	Data        *int32 `json:"data,omitempty"`
	DataLocal   *int32 `json:"dataLocal,omitempty"`
	DataRPCPort *int32 `json:"dataRPCPort,omitempty"`
	Expert      *bool  `json:"expert,omitempty"`
}

// Service is kept but not acted upon.
type Service struct {
	Target string `json:"target,omitempty"`
}

// RolloutStrategy is passed on to the workload.
type RolloutStrategy struct {
	Type          string         `json:"type,omitempty"`
	RollingUpdate map[string]any `json:"rollingUpdate,omitempty"`
}

// groupSize is the number of pods of one replica: data/dataLocal for data parallelism, else the pipeline's length.
func (s *Spec) groupSize() int32 {
	p := s.Parallelism
	if p == nil {
		return 1
	}
	if p.Data != nil && p.DataLocal != nil && *p.DataLocal > 0 {
		return max(1, *p.Data / *p.DataLocal)
	}
	if p.Pipeline != nil {
		return max(1, *p.Pipeline)
	}
	return 1
}

func (s *Spec) replicas() int32 {
	if s.Replicas == nil {
		return 1
	}
	return *s.Replicas
}
