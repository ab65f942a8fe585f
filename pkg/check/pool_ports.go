package check

import (
	"fmt"
	"sort"
	"strings"
)

func poolPorts() Check {
	return Check{
		Code: "MIF023", Title: "Ports of the pool do not fit the engines", Severity: fault,
		Why: "Every data-parallel rank listens on a port of its own from 8000 on; a port that is not listed gets no request, a port too many fails, and a pool takes at most 8.",
		Fix: "List one port a rank: target_ports = range(8000, 8000 + ranks).",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, s := range c.schedulers {
				ports := targetPorts(s)
				path := s.valuePath("target_ports", "inferencePool", "targetPorts")
				if len(ports) > 8 {
					out = append(out, s.finding(path, fmt.Sprintf("%d ports are listed.", len(ports))))
					continue
				}
				for _, e := range s.engines(c) {
					if n := e.ranks; n > 0 && s.pool != "" && !consecutive(ports, n) {
						out = append(out, s.finding(path, fmt.Sprintf("The pool has %s, but the pods of %s have %d ranks.", portList(ports), e.resource.Address, n)))
						break
					}
				}
			}
			return out
		},
	}
}

// targetPorts are the ports of the pool; the chart's default is 8000 alone.
func targetPorts(s scheduler) []int64 {
	list, ok := dig(s.values, "inferencePool", "targetPorts").([]any)
	if !ok {
		return []int64{8000}
	}
	var out []int64
	for _, x := range list {
		n, _ := number(dig(x, "number"))
		out = append(out, int64(n))
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func consecutive(ports []int64, n int64) bool {
	for i, p := range ports {
		if p != 8000+int64(i) {
			return false
		}
	}
	return int64(len(ports)) == n
}

func portList(ports []int64) string {
	if len(ports) == 1 {
		return fmt.Sprintf("the port %d alone", ports[0])
	}
	return "the ports " + strings.Trim(fmt.Sprint(ports), "[]")
}
