package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Classes of definitions beside the block types; they are the first word of a reference.
const (
	classVariable = "var"
	classLocal    = "local"
	classModule   = "module"
	classOutput   = "output"
	classDataset  = "dataset"
	classScenario = "scenario"
	classCluster  = "cluster"
	// classInstances is what a module block's for_each or count says.
	classInstances = "instances"
)

// language is the table of block types: those that are built in, and one for each kind.
type language struct {
	root  map[string]*rootBlock
	kinds map[string]*kindRow
	// foreign explains block types of other tools.
	foreign map[string]string
}

// rootBlock is one row.
type rootBlock struct {
	// schemas together say which names are legal; the first one has the labels.
	schemas []*block.Schema
	// rootOnly rows are not allowed in modules.
	rootOnly bool
	// anyName rows take names that are not identifiers, freeNames rows any arguments.
	anyName, freeNames bool
	collect            func(*collector, *module, *hclsyntax.Block)
}

// kindRow is a resource kind with its schema.
type kindRow struct {
	kind   resource.Kind
	schema *block.Schema
}

// settingsBlock is the mifbench block.
type settingsBlock struct {
	RequiredVersion string   `hcl:"required_version,optional" doc:"Versions of mifbench that may be used, e.g. >= 0.1.0."`
	Stack           string   `hcl:"stack,optional" doc:"Name of the stack in state, labels and results; the directory's name when absent."`
	DisabledChecks  []string `hcl:"disabled_checks,optional" doc:"Codes of domain checks that are switched off, e.g. MIF007."`
	Backend         *Backend `hcl:"backend,block" doc:"Where the state lives; a local file when absent."`
}

// outputBlock is an output block.
type outputBlock struct {
	Name        string         `hcl:"name,label" doc:"Name of the output."`
	Value       hcl.Expression `hcl:"value" doc:"The value; may be known only after apply."`
	Description string         `hcl:"description,optional" doc:"What the output is."`
	Sensitive   bool           `hcl:"sensitive,optional" doc:"Whether the value is hidden." default:"false"`
	DependsOn   hcl.Expression `hcl:"depends_on,optional" doc:"Blocks that the output depends on without referring to them."`
}

// movedBlock is a moved block.
type movedBlock struct {
	From hcl.Expression `hcl:"from" doc:"The address that the state knows."`
	To   hcl.Expression `hcl:"to" doc:"The address of the block as it is now."`
}

// localsBlock and moduleBlock have free arguments; the structs are for the reference page.
type localsBlock struct{}

type moduleBlock struct {
	Name      string         `hcl:"name,label" doc:"Name of the module call."`
	Source    string         `hcl:"source" doc:"Directory of the module, beginning with ./ or ../; all other arguments are the module's variables."`
	ForEach   hcl.Expression `hcl:"for_each,optional" doc:"A map, object or set of texts: one use for each element, with each.key and each.value."`
	Count     hcl.Expression `hcl:"count,optional" doc:"The number of uses, with count.index."`
	DependsOn hcl.Expression `hcl:"depends_on,optional" doc:"Blocks that everything in the module depends on."`
}

// unsupportedBlock is for blocks of later versions.
type unsupportedBlock struct {
	Name string `hcl:"name,label" doc:"Name."`
}

// newLanguage builds the table; a kind whose name is taken is our bug.
func newLanguage(kinds []resource.Kind) *language {
	l := &language{root: map[string]*rootBlock{}, kinds: map[string]*kindRow{}, foreign: foreignBlocks()}
	for name, row := range builtinBlocks() {
		l.root[name] = row
	}
	meta := block.Of("", "", metaBlock{})
	for _, k := range kinds {
		if _, taken := l.root[k.Name]; taken {
			panic(fmt.Sprintf("config: two block types named %q", k.Name))
		}
		s := block.Of(k.Name, k.Doc, k.New())
		s.Labels = []block.Label{{Name: "name", Doc: "Name of the block in references and addresses."}}
		l.kinds[k.Name] = &kindRow{kind: k, schema: s}
		l.root[k.Name] = &rootBlock{schemas: []*block.Schema{s, meta}, collect: collectNamed}
	}
	return l
}

func builtinBlocks() map[string]*rootBlock {
	return map[string]*rootBlock{
		"mifbench": {
			schemas:  []*block.Schema{block.Of("mifbench", "Settings of the configuration as a whole.", settingsBlock{})},
			rootOnly: true, collect: collectOnly(func(m *module) **hclsyntax.Block { return &m.settings }),
		},
		"cluster": {
			schemas:  []*block.Schema{block.Of("cluster", "The Kubernetes cluster that is meant.", Cluster{})},
			rootOnly: true, collect: collectOnly(func(m *module) **hclsyntax.Block { return &m.cluster }),
		},
		"variable": {
			schemas: []*block.Schema{block.Of("variable", "An input of the configuration or module.", variableBlock{})},
			collect: collectVariable,
		},
		"locals": {
			schemas:   []*block.Schema{block.Of("locals", "Names for values, used as local.name.", localsBlock{})},
			freeNames: true, collect: collectLocals,
		},
		"module": {
			schemas:   []*block.Schema{block.Of("module", "A use of a local module.", moduleBlock{})},
			freeNames: true, collect: collectModule,
		},
		"output": {
			schemas: []*block.Schema{block.Of("output", "A value for people, scripts or the calling module.", outputBlock{})},
			collect: collectOutput,
		},
		"moved": {
			schemas:  []*block.Schema{block.Of("moved", "Says that a block was renamed, so that nothing is replaced.", movedBlock{})},
			rootOnly: true, collect: collectMoved,
		},
		"dataset": {
			schemas: []*block.Schema{block.Of("dataset", "Where prompts come from.", Dataset{}), block.Of("", "", repetition{})},
			collect: collectNamed,
		},
		"scenario": {
			schemas: []*block.Schema{block.Of("scenario", "One measurement.", Scenario{}), block.Of("", "", scenarioRefs{}), block.Of("", "", repetition{})},
			anyName: true, collect: collectNamed,
		},
		"search": {schemas: []*block.Schema{block.Of("search", "Not supported yet in this version.", unsupportedBlock{})}, freeNames: true, anyName: true, collect: collectUnsupported},
		"sweep":  {schemas: []*block.Schema{block.Of("sweep", "Not supported yet in this version.", unsupportedBlock{})}, freeNames: true, anyName: true, collect: collectUnsupported},
	}
}

func collectUnsupported(c *collector, _ *module, b *hclsyntax.Block) {
	c.diags = append(c.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Not supported yet", Subject: b.DefRange().Ptr(),
		Detail: fmt.Sprintf("The %s block is not supported yet in this version; write the points as scenarios, for example one scenario with for_each.", b.Type),
	})
}

// foreignBlocks: what a reader coming from another tool writes first.
func foreignBlocks() map[string]string {
	return map[string]string{
		"resource":  "A resource kind is a block type of its own: instead of resource \"namespace\" \"x\" { … } write namespace \"x\" { … }.",
		"data":      "A plan is computed from the files alone; pass what you would look up in as a variable.",
		"provider":  "Say which cluster is meant in a cluster block: cluster { context = … }.",
		"terraform": "Its place is taken by mifbench { required_version = …, stack = …, backend … { … } }.",
		"import":    "Use the command mifbench import, or adopt = true in the block.",
		"removed":   "Remove the block, and use mifbench state rm to keep the objects.",
		"check":     "Use validation blocks in variables; domain checks run by themselves.",
		"benchmark": "A measurement is a scenario \"name\" { … } block.",
		"helm":      "Use helm_release \"name\" { … }.",
		"release":   "Use helm_release \"name\" { … }.",
	}
}

// example is how a block type is written.
func (l *language) example(blockType string) string {
	out := blockType
	for _, n := range l.root[blockType].schemas[0].LabelNames() {
		out += fmt.Sprintf(" %q", strings.ToUpper(n))
	}
	return out + " { … }"
}
