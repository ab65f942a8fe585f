package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func rdma() Check {
	return Check{
		Code: "MIF030", Title: "No RDMA device for KV transfer", Severity: doubt,
		Why: "Prefill hands the KV cache to decode over RDMA; presets do not ask for the device, and without it transfers fail under load, not at start.",
		Fix: "Add resources = { limits = { \"mellanox/hca\" = \"1\" }, requests = { \"mellanox/hca\" = \"1\" } } to the container main.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, e := range c.services {
				role := e.role()
				if role != kinds.RolePrefill && role != kinds.RoleDecode || simulated(e) {
					continue
				}
				if list, path := e.containers(); !asksForHCA(list) {
					out = append(out, e.finding(path, fmt.Sprintf("The %s pods of %s ask for no mellanox/hca.", role, e.name)))
				}
			}
			return out
		},
	}
}

func asksForHCA(containers []any) bool {
	for _, x := range containers {
		if textAt(x, "name") == mainContainer && (dig(x, "resources", "limits", "mellanox/hca") != nil || dig(x, "resources", "requests", "mellanox/hca") != nil) {
			return true
		}
	}
	return false
}

// simulated tells whether a service runs the framework's no-GPU stand-in.
func simulated(e service) bool {
	for _, ref := range e.options.TemplateRefs {
		if ref == "sim" || len(ref) > 4 && ref[:4] == "sim-" {
			return true
		}
	}
	return false
}
