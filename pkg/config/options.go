package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Options are what Load needs beside the directory.
type Options struct {
	// Kinds are the resource block types.
	Kinds []resource.Kind
	// Vars are the -var and -var-file options in the order given; later ones win.
	Vars []VarArg
	// Env is the process environment, as os.Environ; nil means empty.
	Env func() []string
	// Known holds attributes that became known by applying; they replace unknown ones in
	// outputs, datasets and scenarios, never in resources.
	Known map[resource.Address]map[string]cty.Value
	// Version is the program's version for required_version; "" skips the check.
	Version string
	// Limits bound the input; zero fields mean DefaultLimits.
	Limits Limits
}

// VarArg is one -var (Assignment "name=expression") or one -var-file (File).
type VarArg struct {
	Assignment string
	File       string
}

// Limits bound what is read, so that any input is answered in time and memory.
type Limits struct {
	// FileSize in bytes: of a configuration, variable, template or data file.
	FileSize int64
	// Depth is the greatest nesting of brackets, blocks and operators.
	Depth int
	// Files is the greatest number of configuration files of one directory.
	Files int
	// Modules is the greatest depth of modules in modules.
	Modules int
	// Instances is the greatest count or for_each of one block.
	Instances int
	// ValueSize is the greatest size of one value, bytes: texts, and 64 for each element.
	ValueSize int
}

// DefaultLimits are generous for people and safe for a process.
func DefaultLimits() Limits {
	return Limits{FileSize: 8 << 20, Depth: 200, Files: 2000, Modules: 16, Instances: 20_000, ValueSize: 16 << 20}
}

func (l Limits) filled() Limits {
	d := DefaultLimits()
	if l.FileSize == 0 {
		l.FileSize = d.FileSize
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	if l.Files == 0 {
		l.Files = d.Files
	}
	if l.Modules == 0 {
		l.Modules = d.Modules
	}
	if l.Instances == 0 {
		l.Instances = d.Instances
	}
	if l.ValueSize == 0 {
		l.ValueSize = d.ValueSize
	}
	return l
}

// Backend says where the state lives.
type Backend struct {
	Type string `hcl:"type,label" doc:"Where the state lives." enum:"local,kubernetes"`
	// Path of the state file (local), relative to the configuration's directory.
	Path string `hcl:"path,optional" doc:"State file of backend \"local\"." default:"mifbench.state.json"`
	// Namespace and Name of the Secret (kubernetes).
	Namespace string `hcl:"namespace,optional" doc:"Namespace of the state's objects of backend \"kubernetes\"."`
	Name      string `hcl:"name,optional" doc:"Name of the state of backend \"kubernetes\"; the stack's name when absent."`
	Range     hcl.Range
}

// Cluster says which cluster is meant.
type Cluster struct {
	Kubeconfig string `hcl:"kubeconfig,optional" doc:"Path of the kubeconfig; KUBECONFIG or ~/.kube/config when absent."`
	Context    string `hcl:"context,optional" doc:"Context of the kubeconfig; never guessed."`
	Namespace  string `hcl:"namespace,optional" doc:"Namespace for what belongs to the stack as a whole."`
	Range      hcl.Range
}
