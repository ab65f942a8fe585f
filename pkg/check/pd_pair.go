package check

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func pdPair() Check {
	return Check{
		Code: "MIF031", Title: "Prefill without decode, or the reverse", Severity: fault,
		Why: "A disaggregated pool needs both: without the other role no request is answered.",
		Fix: "Add the inference_service of the missing role to the same pool, or use role = \"both\".",
		Run: func(c *Model) []Finding {
			roles := map[string]map[string]bool{} // pool → role
			for _, e := range c.services {
				key := e.namespace + "/" + e.pool()
				if roles[key] == nil {
					roles[key] = map[string]bool{}
				}
				roles[key][e.role()] = true
			}
			opposite := map[string]string{kinds.RolePrefill: kinds.RoleDecode, kinds.RoleDecode: kinds.RolePrefill}
			var out []Finding
			for _, e := range c.services {
				there, want := roles[e.namespace+"/"+e.pool()], opposite[e.role()]
				if want != "" && e.pool() != "" && !there[want] && !there[kinds.RoleBoth] && !there[""] {
					out = append(out, e.finding("role", fmt.Sprintf("The pool %q has a %s service and no %s service.", e.pool(), e.role(), want)))
				}
			}
			return out
		},
	}
}
