package kube

import (
	"strconv"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// maskDigits is how much of a keyed fingerprint is shown in the place of a secret.
const maskDigits = 8

// mask replaces, in place, the data of Secrets and everything that the pointers name by a
// keyed fingerprint, so that a change is seen and a value is not.
func mask(obj map[string]any, salt string, pointers []string) {
	if obj == nil {
		return
	}
	if obj["kind"] == "Secret" && obj["apiVersion"] == "v1" {
		pointers = append([]string{"/data/*", "/stringData/*"}, pointers...)
	}
	for _, p := range pointers {
		maskAt(obj, pointerSteps(p), salt)
	}
}

func maskAt(v any, steps []string, salt string) {
	if len(steps) == 0 {
		return
	}
	switch t := v.(type) {
	case map[string]any:
		for k, child := range t {
			if steps[0] != "*" && steps[0] != k {
				continue
			}
			if len(steps) == 1 {
				t[k] = masked(child, salt)
				continue
			}
			maskAt(child, steps[1:], salt)
		}
	case []any:
		for i, child := range t {
			if steps[0] != "*" && steps[0] != strconv.Itoa(i) {
				continue
			}
			if len(steps) == 1 {
				t[i] = masked(child, salt)
				continue
			}
			maskAt(child, steps[1:], salt)
		}
	}
}

func masked(v any, salt string) any {
	if v == nil || plan.Masked(v) {
		return v
	}
	return plan.Mask(state.Fingerprint(salt, v)[:maskDigits])
}
