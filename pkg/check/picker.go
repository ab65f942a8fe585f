package check

import (
	"strconv"
)

// picker is an EndpointPickerConfig as its loader will see it, with the places in the block.
type picker struct {
	scheduler scheduler
	plugins   []declared
	profiles  []profile
	// body is the whole configuration, path its place.
	body map[string]any
	path string
}

// declared is a declared plugin; ref is the name by which profiles use it.
type declared struct {
	kind, ref, path string
	typ             plugin
	known           bool // whether the type is
	params          map[string]any
}

// profile is a scheduling profile.
type profile struct {
	name, path string
	uses       []use
}

// use is a plugin used in a profile.
type use struct {
	ref, path string
	weight    *float64
	rawWeight any // as it was written
	// role is 0 for undeclared plugins and unknown types.
	role role
}

// newPicker is the configuration that the author wrote; a release that leaves it to the
// chart's default has none.
func newPicker(s scheduler, types map[string]plugin) (p picker, ok bool) {
	body := mapAt(s.values, "config")
	if body == nil {
		return p, false
	}
	p = picker{scheduler: s, body: body, path: "values.config"}
	p.plugins = declaredPlugins(listAt(body, "plugins"), s.blocks("plugin", "plugins"))
	for i, d := range p.plugins {
		p.plugins[i].typ, p.plugins[i].known = types[d.kind]
	}
	p.profiles = declaredProfiles(listAt(body, "schedulingProfiles"), s.blocks("scheduling_profile", "schedulingProfiles"))
	for _, pr := range p.profiles {
		for i, u := range pr.uses {
			d, _ := p.declaredAs(u.ref)
			pr.uses[i].role = d.typ.role
		}
	}
	return p, true
}

// origin tells where a list of the configuration was written.
type origin struct {
	path   string
	nested string // name of the lists inside
}

// blocks: raw values replace lists that were written as blocks.
func (s scheduler) blocks(block, key string) origin {
	if s.options == nil || listAt(s.raw, "config", key) != nil {
		return origin{"values.config." + key, "plugins"}
	}
	return origin{block, "use"}
}

func declaredPlugins(list []any, from origin) []declared {
	var out []declared
	for i, x := range list {
		d := declared{kind: textAt(x, "type"), ref: textAt(x, "name"), path: join(from.path, i), params: mapAt(x, "parameters")}
		if d.ref == "" {
			d.ref = d.kind
		}
		out = append(out, d)
	}
	return out
}

func declaredProfiles(list []any, from origin) []profile {
	var out []profile
	for i, x := range list {
		p := profile{name: textAt(x, "name"), path: join(from.path, i)}
		for j, u := range listAt(x, "plugins") {
			one := use{ref: textAt(u, "pluginRef"), path: p.path + "." + from.nested + "." + strconv.Itoa(j), rawWeight: dig(u, "weight")}
			if w, ok := number(dig(u, "weight")); ok {
				one.weight = &w
			}
			p.uses = append(p.uses, one)
		}
		out = append(out, p)
	}
	return out
}

func (p picker) finding(path, detail string) Finding { return p.scheduler.finding(path, detail) }

// declaredAs is the declaration that a reference means.
func (p picker) declaredAs(ref string) (declared, bool) {
	for _, d := range p.plugins {
		if d.ref == ref {
			return d, true
		}
	}
	return declared{}, false
}

// refs are the declared names.
func (p picker) refs() []string {
	var out []string
	for _, d := range p.plugins {
		out = append(out, d.ref)
	}
	return out
}

// dangling tells whether a profile uses something undeclared; what follows from that is not
// told again.
func (p picker) dangling(pr profile) bool {
	for _, u := range pr.uses {
		if _, ok := p.declaredAs(u.ref); !ok {
			return true
		}
	}
	return false
}

// used tells whether any profile uses a declared name.
func (p picker) used(ref string) bool {
	for _, pr := range p.profiles {
		for _, u := range pr.uses {
			if u.ref == ref {
				return true
			}
		}
	}
	return false
}

// handlers are the declared profile handlers.
func (p picker) handlers() []declared { return p.declaring(roleHandler) }

// declaring are the declared plugins of a role.
func (p picker) declaring(r role) []declared {
	var out []declared
	for _, d := range p.plugins {
		if d.typ.role&r != 0 {
			out = append(out, d)
		}
	}
	return out
}
