package check

import (
	"fmt"
	"regexp"
)

func templateField() Check {
	return Check{
		Code: "MIF024", Title: "Override in the wrong template", Severity: fault,
		Why: "Bases named *-dp and *-pp fill workerTemplate, others template: Odin drops an override in the other one without a word, or refuses both.",
		Fix: "Write worker_template for *-dp and *-pp bases, template for the others.",
		Run: func(c *Model) []Finding {
			base := regexp.MustCompile(`^(vllm|sim)(-prefill|-decode)?(-dp|-pp)?$`)
			var out []Finding
			for _, e := range c.services {
				for _, ref := range e.options.TemplateRefs {
					m := base.FindStringSubmatch(ref)
					switch {
					case m == nil:
					case m[3] != "" && mapAt(e.spec, "template") != nil:
						out = append(out, e.finding("template", fmt.Sprintf("The base %q fills workerTemplate, but the override is written in template.", ref)))
					case m[3] == "" && mapAt(e.spec, "workerTemplate") != nil:
						out = append(out, e.finding("worker_template", fmt.Sprintf("The base %q fills template, but the override is written in worker_template.", ref)))
					}
				}
			}
			return out
		},
	}
}
