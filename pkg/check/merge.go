package check

import "slices"

// assembled is a service's pod template as Odin will assemble it, as far as placement needs it.
type assembled struct {
	// pod is the pod spec, group the number of pods of one instance.
	pod   map[string]any
	group int64
	// worker tells that the instances are groups (LeaderWorkerSet).
	worker bool
	// surge is the rollout's maxSurge as written, nil for none.
	surge any
	// missing are the templates that were not found.
	missing []string
	// unread says why templates could not be looked up, "" when they could.
	unread string
}

// systemNamespace is where Odin looks for templates that the service's own namespace lacks,
// and where the framework keeps its own objects.
const systemNamespace = "mif"

// template looks a template up as Odin does. An unreadable namespace leaves it open.
func (w *World) template(namespace, name string) (spec map[string]any, where, unread string) {
	for _, ns := range []string{namespace, systemNamespace} {
		list := w.templates[ns]
		if !list.ok {
			return nil, "", list.missing()
		}
		if t, ok := list.is[name]; ok {
			return mapAt(t, "spec"), ns, ""
		}
	}
	return nil, "", ""
}

// assemble merges the templates left to right and the service's own spec on top.
func (w *World) assemble(e service) assembled {
	var a assembled
	whole := map[string]any{}
	for _, ref := range e.options.TemplateRefs {
		spec, where, unread := w.template(e.namespace, ref)
		switch {
		case unread != "":
			a.unread = unread
		case where == "":
			a.missing = append(a.missing, ref)
		default:
			whole = overlay(whole, spec)
		}
	}
	whole = overlay(whole, e.spec)
	a.surge = dig(whole, "rolloutStrategy", "rollingUpdate", "maxSurge")
	a.group = 1
	if a.pod = mapAt(whole, "workerTemplate", "spec"); a.pod != nil {
		a.worker, a.group = true, groupSize(mapAt(whole, "parallelism"))
	} else {
		a.pod = mapAt(whole, "template", "spec")
	}
	return a
}

// groupSize is the number of pods of one group: data over local data ranks, else the pipeline's
// stages. Odin takes all ranks for local unless it is told otherwise.
func groupSize(parallelism map[string]any) int64 {
	data, _ := count(parallelism["data"])
	local, _ := count(parallelism["dataLocal"])
	pipeline, _ := count(parallelism["pipeline"])
	switch {
	case data > 0 && local > 0:
		return max(data/local, 1)
	case data == 0 && pipeline > 0:
		return pipeline
	}
	return 1
}

// overlay lays b over a as a strategic merge patch would: maps deeply, lists of named things by
// name, other lists replaced, null deletes. Neither argument is changed.
func overlay(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		switch x := v.(type) {
		case nil:
			delete(out, k)
		case map[string]any:
			base, _ := out[k].(map[string]any)
			out[k] = overlay(base, x)
		case []any:
			out[k] = overlayList(k, out[k], x)
		default:
			out[k] = v
		}
	}
	return out
}

func overlayList(field string, a any, b []any) []any {
	base, _ := a.([]any)
	if !slices.Contains([]string{"containers", "initContainers", "env", "volumes"}, field) {
		return b
	}
	out := slices.Clone(base)
	for _, x := range b {
		i := slices.IndexFunc(out, func(y any) bool { return textAt(y, "name") == textAt(x, "name") })
		m, isMap := x.(map[string]any)
		if i < 0 || !isMap {
			out = append(out, x)
			continue
		}
		old, _ := out[i].(map[string]any)
		out[i] = overlay(old, m)
	}
	return out
}
