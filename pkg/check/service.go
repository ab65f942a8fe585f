package check

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// service is one inference service.
type service struct {
	resource  config.Resource
	options   *kinds.InferenceService
	name      string
	namespace string
	spec      map[string]any
	// ranks is the number of data-parallel ranks of one pod, 0 when it is not known.
	ranks int64
	// preset are the preset's flags; flags are the engine's: the author's ISVC_EXTRA_ARGS, else
	// the preset's, nil when neither is known.
	preset, flags []string
	presetKnown   bool
}

func newService(r config.Resource, o *kinds.InferenceService) service {
	s := service{resource: r, options: o, name: r.Objects[0].ID.Name, namespace: r.Objects[0].ID.Namespace, spec: mapAt(r.Objects[0].Spec, "spec")}
	s.ranks = s.countRanks()
	s.preset, s.presetKnown = s.presetFlags()
	s.flags = s.preset
	if text, _, own := s.extraArgs(); own {
		s.flags = splitFlags(text)
	}
	return s
}

func (s service) finding(path, detail string) Finding { return finding(s.resource, path, detail) }

// role is the service's role: as written, else told from its templates, "" when neither says.
func (s service) role() string {
	if s.options.Role != nil {
		return *s.options.Role
	}
	for _, role := range []string{kinds.RolePrefill, kinds.RoleDecode} {
		for _, ref := range s.options.TemplateRefs {
			if strings.Contains(ref, role) {
				return role
			}
		}
	}
	return ""
}

// pool is the name of the pool that the pods join.
func (s service) pool() string {
	if s.options.Pool == nil {
		return ""
	}
	return *s.options.Pool
}

// template is the part of the pod template that the author wrote, with its path.
func (s service) template() (podTemplate map[string]any, path string) {
	if m := mapAt(s.spec, "workerTemplate"); m != nil {
		return m, "worker_template"
	}
	return mapAt(s.spec, "template"), "template"
}

// containers are the author's containers, with the path of the list.
func (s service) containers() ([]any, string) {
	m, path := s.template()
	return listAt(m, "spec", "containers"), path + ".spec.containers"
}

// countRanks takes the ranks as written, else from the preset's name (…-dp8-…).
func (s service) countRanks() int64 {
	if p := s.options.Parallelism; p != nil {
		for _, v := range []*int64{p.DataLocal, p.Data} {
			if v != nil {
				return *v
			}
		}
	}
	dp := regexp.MustCompile(`-dp(\d+)(-|$)`)
	for _, ref := range s.options.TemplateRefs {
		if m := dp.FindStringSubmatch(ref); m != nil {
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

// presetFlags are those of the last template whose flags are known.
func (s service) presetFlags() (flags []string, ok bool) {
	for _, ref := range s.options.TemplateRefs {
		if f := presetFlags(ref); f != "" {
			flags, ok = splitFlags(f), true
		}
	}
	return flags, ok
}

// extraArgs is the author's own ISVC_EXTRA_ARGS and its path.
func (s service) extraArgs() (text, path string, ok bool) {
	list, at := s.containers()
	for i, c := range list {
		if textAt(c, "name") != mainContainer {
			continue
		}
		for j, e := range listAt(c, "env") {
			if textAt(e, "name") == "ISVC_EXTRA_ARGS" {
				text, path, ok = textAt(e, "value"), at+"."+strconv.Itoa(i)+".env."+strconv.Itoa(j)+".value", true
			}
		}
	}
	return text, path, ok
}

// mainContainer is the engine's container in every template.
const mainContainer = "main"
