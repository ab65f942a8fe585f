package check

import "fmt"

func poolName() Check {
	return Check{
		Code: "MIF022", Title: "Service joins an unknown pool", Severity: fault,
		Why: "Odin copies the labels of the pool to the pods; with a pool that does not exist in the service's namespace the scheduler sees no endpoint.",
		Fix: "Refer to the scheduler's pool, pool = heimdall.<name>.pool, and use its namespace.",
		Run: func(c *Model) []Finding {
			pools := map[string]string{} // name → namespace
			var names []string
			for _, s := range c.schedulers {
				if s.pool == "" {
					return nil // a release whose pool is not known may be the one
				}
				pools[s.pool] = s.namespace
				names = append(names, s.pool)
			}
			var out []Finding
			for _, e := range c.services {
				ns, ok := pools[e.pool()]
				switch {
				case len(names) == 0 || e.pool() == "":
				case !ok:
					out = append(out, e.finding("pool", fmt.Sprintf("No scheduler of this configuration makes the pool %q.%s", e.pool(), nearest(e.pool(), names))))
				case ns != e.namespace && !elsewhere(c, e):
					out = append(out, e.finding("namespace", fmt.Sprintf("The pool %q lives in namespace %q, the service in %q.", e.pool(), ns, e.namespace)))
				}
			}
			return out
		},
	}
}

// elsewhere tells whether another scheduler makes a pool of that name in the service's namespace.
func elsewhere(c *Model, e service) bool {
	for _, s := range c.schedulers {
		if s.pool == e.pool() && s.namespace == e.namespace {
			return true
		}
	}
	return false
}
