package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Config is a directory's configuration, evaluated.
type Config struct {
	// Dir is the directory as given to Load.
	Dir string
	// Stack names the stack in state, labels and results.
	Stack          string
	Backend        Backend
	Cluster        Cluster
	DisabledChecks []string
	// Resources are all block instances in creation order: dependencies first, otherwise
	// in the order of the files.
	Resources []Resource
	Datasets  []Dataset
	Scenarios []Scenario
	Outputs   []Output
	// Variables are those of the root module, sorted by name.
	Variables []Variable
	Moved     []Moved
	// Files are the sources by name, for snippets in diagnostics.
	Files map[string]*hcl.File
	// Hash identifies the configuration: SHA-256 (hex) of the names, relative to Dir, and
	// contents of every file read but variables files, and of the names of all variables
	// and the values of those that are not sensitive.
	Hash string

	graph *graph
}

// Resource is one instance of a resource block.
type Resource struct {
	Address resource.Address
	// Options is the decoded struct that the kind's New returned.
	Options any
	// Scope is what the kind was expanded with; Scope.At finds ranges by dotted path.
	Scope resource.Scope
	// Objects have their Options and their DependsOn filled in.
	Objects []resource.Object
	// Attrs are what other blocks may refer to, values learned from Options.Known included.
	Attrs map[string]cty.Value
	// DependsOn are the block instances that this block refers to, in creation order.
	DependsOn []resource.Address
}

// Moved says that what state knows as From is now To.
type Moved struct {
	From, To resource.Address
	Range    hcl.Range
}

// Objects are all objects in creation order.
func (c *Config) Objects() []resource.Object {
	var out []resource.Object
	for _, r := range c.Resources {
		out = append(out, r.Objects...)
	}
	return out
}

// Resource is the block instance of an address.
func (c *Config) Resource(a resource.Address) (*Resource, bool) {
	for i := range c.Resources {
		if c.Resources[i].Address == a {
			return &c.Resources[i], true
		}
	}
	return nil, false
}
