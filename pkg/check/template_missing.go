package check

import (
	"fmt"
	"sort"
	"strings"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func templateMissing() Check {
	return Check{
		Code: "MIF106", About: "templates", Title: "Template that the cluster does not have", Severity: fault,
		Why: "Odin refuses an InferenceService whose templates do not exist in its namespace or in mif; their names change between versions of the preset chart.",
		Fix: "Correct the name, or install the version of moai-inference-preset that has it (v0.5.0 has the published ones).",
		Look: func(m *Model, w *World) (o Outcome) {
			n := 0
			if len(m.services) > 0 && w.unserved(odinVersion, "InferenceServiceTemplate") {
				o.skip("the cluster does not serve InferenceServiceTemplates (MIF102)")
				return o
			}
			for _, e := range m.services {
				for i, ref := range e.options.TemplateRefs {
					_, where, unread := w.template(e.namespace, ref)
					switch coming := m.mayCome(w); {
					case unread != "":
						o.skip("%s: %s", e.resource.Address, unread)
					case where != "" || m.madeHere("InferenceServiceTemplate", e.namespace, ref) || m.madeHere("InferenceServiceTemplate", systemNamespace, ref):
						n++
					case coming != "":
						o.skip("template %s is not there: %s", ref, coming)
					default:
						o.find(e.finding(join("template_refs", i), w.templateHint(e, ref)))
					}
				}
			}
			if n > 0 {
				o.seen("%d references", n)
			}
			return o
		},
	}
}

// maxHints bounds the list of names to choose from.
const maxHints = 6

// templateHint names what was probably meant: a name that is near, else templates of the same
// role, accelerator and model, as far as the wrong name tells them.
func (w *World) templateHint(e service, ref string) string {
	text := fmt.Sprintf("Neither %s nor %s has the InferenceServiceTemplate %q that %s refers to.", e.namespace, systemNamespace, ref, e.resource.Address)
	var names []string
	alike := map[string]int{}
	for _, ns := range []string{e.namespace, systemNamespace} {
		for name, t := range w.templates[ns].is {
			names = append(names, name)
			alike[name] = likeness(e, ref, name, mapAt(t, "metadata", "labels"))
		}
	}
	if len(names) == 0 {
		return text + " There are none at all: the chart moai-inference-preset is not installed."
	}
	if hint := diagnostic.DidYouMean(ref, names); hint != "" {
		return text + hint
	}
	sort.Slice(names, func(i, j int) bool {
		if alike[names[i]] != alike[names[j]] {
			return alike[names[i]] > alike[names[j]]
		}
		return names[i] < names[j]
	})
	best := names[:0:0]
	for _, n := range names {
		if alike[n] > 0 && 2*alike[n] >= alike[names[0]] && len(best) < maxHints {
			best = append(best, n)
		}
	}
	if len(best) == 0 {
		return text + " There are: " + diagnostic.List(names) + "."
	}
	return text + " The most alike by role, model and accelerator:\n  " + strings.Join(best, "\n  ") + "\n"
}

// likeness counts what a template has in common with a reference that leads nowhere; a template
// of the other role is never meant.
func likeness(e service, ref, name string, labels map[string]any) int {
	if role := textOf(labels["mif.moreh.io/role"]); role != "" && e.role() != "" && e.role() != "both" && role != e.role() {
		return 0
	}
	folded, score := strings.ToLower(ref), 0
	for _, key := range []string{"mif.moreh.io/model.name", "mif.moreh.io/accelerator.model", "mif.moreh.io/accelerator.vendor", "mif.moreh.io/parallelism"} {
		if v := strings.ToLower(textOf(labels[key])); v != "" && strings.Contains(folded, v) {
			score += 10
		}
	}
	common := 0
	for _, word := range strings.Split(folded, "-") {
		if strings.Contains("-"+strings.ToLower(name)+"-", "-"+word+"-") {
			common++
		}
	}
	return score + common
}
