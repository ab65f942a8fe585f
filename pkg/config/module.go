package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// module is the blocks of one directory, sorted by what they are, not yet evaluated.
type module struct {
	// path is the dotted path of module names, "" for the root.
	path string
	dir  string
	// parent and call are nil in the root.
	parent *module
	call   *hclsyntax.Block
	// instances stand for a module block with for_each or count once its keys are known;
	// own are what only one of them sees: each or count.
	instances []*module
	unfolded  bool
	own       map[string]cty.Value

	// settings, cluster: at most one block each, in the root only.
	settings, cluster *hclsyntax.Block

	variables map[string]*variable
	locals    map[string]*hclsyntax.Attribute
	outputs   map[string]*hclsyntax.Block
	modules   map[string]*module
	// blocks are the resource, dataset and scenario blocks by type and name.
	blocks map[string]map[string]*hclsyntax.Block
	// order is every addressable definition in source order.
	order []nodeID
	moved []*hclsyntax.Block

	eval *hcl.EvalContext // functions and path; parent of all contexts of the module
}

func newModule(path, dir string, parent *module) *module {
	return &module{
		path: path, dir: dir, parent: parent,
		variables: map[string]*variable{}, locals: map[string]*hclsyntax.Attribute{},
		outputs: map[string]*hclsyntax.Block{}, modules: map[string]*module{},
		blocks: map[string]map[string]*hclsyntax.Block{},
	}
}

// key is the instance key of one use of a repeated module block.
func (m *module) key() string {
	return strings.TrimSuffix(strings.TrimPrefix(m.path, m.parent.child(m.call.Labels[0])+"["), "]")
}

// child is the dotted path of a module in this one.
func (m *module) child(name string) string {
	if m.path == "" {
		return name
	}
	return m.path + "." + name
}

// id is the node of a definition in this module.
func (m *module) id(class, name string) nodeID { return nodeID{m.path, class, name} }

// names lists the names of one class, for suggestions.
func (m *module) names(class string) []string {
	switch class {
	case classVariable:
		return keys(m.variables)
	case classLocal:
		return keys(m.locals)
	case classModule:
		return keys(m.modules)
	}
	return keys(m.blocks[class])
}

// has tells whether a name of one class is defined.
func (m *module) has(class, name string) bool {
	ok := false
	switch class {
	case classVariable:
		_, ok = m.variables[name]
	case classLocal:
		_, ok = m.locals[name]
	case classModule:
		_, ok = m.modules[name]
	default:
		_, ok = m.blocks[class][name]
	}
	return ok
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
