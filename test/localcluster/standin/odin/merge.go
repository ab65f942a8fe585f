package odin

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// merge lays the specs over each other from left to right as strategic merge patches: containers, environment and
// volumes by name, mounts by path, resources by key; commands, arguments and other plain lists are replaced.
func merge(layers ...map[string]any) (map[string]any, error) {
	merged := []byte("{}")
	for _, l := range layers {
		patch, err := json.Marshal(l)
		if err != nil {
			return nil, fmt.Errorf("merge templates: %w", err)
		}
		if merged, err = strategicpatch.StrategicMergePatch(merged, patch, Spec{}); err != nil {
			return nil, fmt.Errorf("merge templates: %w", err)
		}
	}
	var out map[string]any
	if err := json.Unmarshal(merged, &out); err != nil {
		return nil, fmt.Errorf("merge templates: %w", err)
	}
	return out, nil
}

// rendered is an InferenceService with its templates merged in and its strings filled in.
type rendered struct {
	raw  map[string]any // for status.renderedSpec
	spec Spec
}

// identity is what templates may refer to beside the spec.
type identity struct {
	Name, Namespace string
	Labels          map[string]string
}

// render merges an InferenceService's own spec over those of its templates, applies the defaults and fills in the
// strings of the pod templates. Errors are the author's.
func render(id identity, own map[string]any, templates ...map[string]any) (*rendered, error) {
	raw, err := merge(append(append([]map[string]any{}, templates...), own)...)
	if err != nil {
		return nil, err
	}
	defaults(raw)
	var spec Spec
	if err := convert(raw, &spec); err != nil {
		return nil, err
	}
	for _, part := range []string{"template", "workerTemplate"} {
		if raw[part] == nil {
			continue
		}
		if raw[part], err = fill(raw[part], view{identity: id, Spec: &spec}); err != nil {
			return nil, fmt.Errorf("spec.%s: %w", part, err)
		}
	}
	out := &rendered{raw: raw}
	return out, convert(raw, &out.spec)
}

// defaults sets dataLocal to data, as Odin's defaulting webhook does for what is written in the service itself.
func defaults(raw map[string]any) {
	p, _ := raw["parallelism"].(map[string]any)
	if p != nil && p["data"] != nil && p["dataLocal"] == nil {
		p["dataLocal"] = p["data"]
	}
}

func convert(raw map[string]any, into *Spec) error {
	text, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the merged spec cannot be read: %w", err)
	}
	return nil
}

// check is what Odin's validating webhook demands of the merged spec.
func check(s *Spec) error {
	var errs []error
	if s.Template == nil && s.WorkerTemplate == nil {
		errs = append(errs, errors.New("spec: one of template and workerTemplate is required, here or in a template that templateRefs names"))
	}
	if len(s.InferencePoolRefs) > 1 {
		errs = append(errs, fmt.Errorf("spec.inferencePoolRefs: at most 1 is allowed, not %d", len(s.InferencePoolRefs)))
	}
	if s.WorkerTemplate != nil {
		p := s.Parallelism
		switch {
		case p == nil || p.Data == nil && p.Pipeline == nil:
			errs = append(errs, errors.New("spec.parallelism: workerTemplate needs data or pipeline"))
		case p.Data != nil && p.Pipeline != nil:
			errs = append(errs, errors.New("spec.parallelism: data and pipeline exclude each other"))
		}
		if r := s.RolloutStrategy; r != nil && r.Type != "" && r.Type != "RollingUpdate" {
			errs = append(errs, fmt.Errorf("spec.rolloutStrategy.type: %q is not possible with workerTemplate, only RollingUpdate", r.Type))
		}
	}
	return errors.Join(errs...)
}
