package config

import (
	"sort"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/lang"
	"github.com/mifbench/mifbench/pkg/resource"
)

// SchemaVersion is the version of the JSON form of Schema.
const SchemaVersion = 1

// SchemaDump is the language as data, made from the tables that decode; it marshals to the
// JSON that editors and the reference page read.
type SchemaDump struct {
	Version   int              `json:"version"`
	Blocks    []SchemaBlock    `json:"blocks"`
	Functions []SchemaFunction `json:"functions"`
}

// SchemaBlock is a block type.
type SchemaBlock struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	// Resource tells whether the block is a resource kind.
	Resource bool          `json:"resource,omitempty"`
	Labels   []SchemaLabel `json:"labels,omitempty"`
	// MinItems and MaxItems bound how many there may be; MaxItems 0 means any number.
	MinItems   int               `json:"minItems"`
	MaxItems   int               `json:"maxItems"`
	Attributes []SchemaAttribute `json:"attributes,omitempty"`
	Blocks     []SchemaBlock     `json:"blocks,omitempty"`
	// OpenNames tells that any argument name is legal (locals, module).
	OpenNames bool `json:"openNames,omitempty"`
}

// SchemaLabel is a label.
type SchemaLabel struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
}

// SchemaAttribute is an argument.
type SchemaAttribute struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Format is "duration", "percent" or "expression", "" for plain values.
	Format      string   `json:"format,omitempty"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Sensitive   bool     `json:"sensitive,omitempty"`
	Default     *string  `json:"default,omitempty"`
	Enum        []string `json:"enum,omitempty"`
}

// SchemaFunction is a function.
type SchemaFunction struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Parameters  []string `json:"parameters,omitempty"`
	Variadic    string   `json:"variadic,omitempty"`
}

// Schema is the language with the given kinds, sorted by block type and function name.
func Schema(kinds []resource.Kind) SchemaDump {
	l := newLanguage(kinds)
	out := SchemaDump{Version: SchemaVersion}
	for _, name := range sorted(keys(l.root)) {
		row := l.root[name]
		b := schemaBlock(row.schemas[0], 0, 0)
		for _, more := range row.schemas[1:] {
			extra := schemaBlock(more, 0, 0)
			b.Attributes = append(b.Attributes, extra.Attributes...)
			b.Blocks = append(b.Blocks, extra.Blocks...)
		}
		_, b.Resource = l.kinds[name]
		b.OpenNames = row.freeNames
		if name == "mifbench" || name == classCluster {
			b.MaxItems = 1
		}
		out.Blocks = append(out.Blocks, b)
	}
	for _, f := range lang.Functions(lang.World{}) {
		out.Functions = append(out.Functions, schemaFunction(f))
	}
	return out
}

func schemaBlock(s *block.Schema, minItems, maxItems int) SchemaBlock {
	out := SchemaBlock{Type: s.Type, Description: s.Doc, MinItems: minItems, MaxItems: maxItems}
	for _, l := range s.Labels {
		out.Labels = append(out.Labels, SchemaLabel{Name: l.Name, Description: l.Doc, Enum: l.Enum})
	}
	for _, a := range s.Attributes {
		out.Attributes = append(out.Attributes, SchemaAttribute{
			Name: a.Name, Type: typeexpr.TypeString(a.Type), Format: a.Format, Description: a.Doc,
			Required: a.Required, Sensitive: a.Sensitive, Default: a.Default, Enum: a.Enum,
		})
	}
	for _, n := range s.Blocks {
		out.Blocks = append(out.Blocks, schemaBlock(n.Schema, n.Min, n.Max))
	}
	sort.Slice(out.Attributes, func(i, j int) bool { return out.Attributes[i].Name < out.Attributes[j].Name })
	return out
}

func schemaFunction(f lang.Function) SchemaFunction {
	out := SchemaFunction{Name: f.Name, Description: f.Doc}
	for _, p := range f.Func.Params() {
		out.Parameters = append(out.Parameters, p.Name)
	}
	if p := f.Func.VarParam(); p != nil {
		out.Variadic = p.Name
	}
	return out
}
