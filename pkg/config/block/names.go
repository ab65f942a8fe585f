package block

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// CheckNames holds a body's attribute names, block types and labels against the schemas
// (a name is legal when one of them has it), at any depth and inside dynamic blocks,
// without evaluating anything.
func CheckNames(header string, body *hclsyntax.Body, schemas ...*Schema) hcl.Diagnostics {
	s := merged(schemas)
	var diags hcl.Diagnostics
	for _, a := range body.Attributes {
		if s.attribute(a.Name) == nil {
			diags = append(diags, unknownAttribute(header, a, s))
		}
	}
	for _, b := range body.Blocks {
		diags = append(diags, checkBlock(header, b, s)...)
	}
	return diags
}

// merged is one schema with the names of all, for lookups by name only.
func merged(schemas []*Schema) *Schema {
	if len(schemas) == 1 {
		return schemas[0]
	}
	out := &Schema{}
	for _, s := range schemas {
		out.Attributes = append(out.Attributes, s.Attributes...)
		out.Blocks = append(out.Blocks, s.Blocks...)
	}
	return out
}

func checkBlock(header string, b *hclsyntax.Block, s *Schema) hcl.Diagnostics {
	if b.Type == "dynamic" {
		return checkDynamic(header, b, s)
	}
	n := s.block(b.Type)
	if n == nil {
		return hcl.Diagnostics{unknownBlock(header, b, s)}
	}
	diags := CheckLabels(b, n.Schema)
	return append(diags, CheckNames(blockHeader(b.Type, b.Labels), b.Body, n.Schema)...)
}

func checkDynamic(header string, b *hclsyntax.Block, s *Schema) hcl.Diagnostics {
	if len(b.Labels) != 1 {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Dynamic block without a type", Subject: b.DefRange().Ptr(),
			Detail: "A dynamic block has one label: the type of the blocks that it generates, for example: dynamic \"listener\" { for_each = … content { … } }.",
		}}
	}
	n := s.block(b.Labels[0])
	if n == nil {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Unsupported block type", Subject: b.LabelRanges[0].Ptr(), Context: b.DefRange().Ptr(),
			Detail: fmt.Sprintf("Blocks of type %q are not expected in %s.%s%s", b.Labels[0], header, diagnostic.DidYouMean(b.Labels[0], s.BlockTypes()), allowed(" Block types allowed here: %s.", s.BlockTypes())),
		}}
	}
	diags := CheckNames(`dynamic "`+b.Labels[0]+`"`, b.Body, dynamicSchema(n.Schema))
	if b.Body.Attributes["for_each"] == nil {
		diags = append(diags, Missing(b.DefRange(), `dynamic "`+b.Labels[0]+`"`, "for_each", "the collection that gives one block for each element"))
	}
	return diags
}

// dynamicSchema is what stands inside dynamic "x" { … }.
func dynamicSchema(content *Schema) *Schema {
	c := *content
	c.Type, c.Labels = "content", nil
	return &Schema{
		Attributes: []Attribute{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
		Blocks:     []Nested{{Schema: &c, Min: 1, Max: 1}},
	}
}

// CheckLabels holds the number and the allowed values of a block's labels.
func CheckLabels(b *hclsyntax.Block, s *Schema) hcl.Diagnostics {
	if len(b.Labels) == len(s.Labels) {
		var diags hcl.Diagnostics
		for i, l := range s.Labels {
			if d := checkEnum("label", l.Name, b.Labels[i], l.Enum, b.LabelRanges[i]); d != nil {
				diags = append(diags, d)
			}
		}
		return diags
	}
	subject := b.DefRange()
	if len(b.Labels) > len(s.Labels) {
		subject = b.LabelRanges[len(s.Labels)]
	}
	want := "no label"
	if n := len(s.Labels); n > 0 {
		want = fmt.Sprintf("%d label (%s)", n, strings.Join(s.LabelNames(), ", "))
	}
	example := b.Type
	for _, l := range s.Labels {
		example += fmt.Sprintf(" %q", strings.ToUpper(l.Name))
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Wrong number of labels", Subject: &subject, Context: b.DefRange().Ptr(),
		Detail: fmt.Sprintf("A %s block has %s, written as %s { … }; here are %d.", b.Type, want, example, len(b.Labels)),
	}}
}

func unknownAttribute(header string, a *hclsyntax.Attribute, s *Schema) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unsupported argument", Subject: a.NameRange.Ptr(), Context: a.Range().Ptr()}
	if s.block(a.Name) != nil {
		d.Detail = fmt.Sprintf("%q is a block in %s, not an attribute: write %s { … } without the equals sign.", a.Name, header, a.Name)
		return d
	}
	if n := diagnostic.Nearest(a.Name, s.AttributeNames()); n != "" {
		d.Extra = Meant{header, n}
	}
	d.Detail = fmt.Sprintf("An argument named %q is not expected in %s.%s%s", a.Name, header,
		diagnostic.DidYouMean(a.Name, s.AttributeNames()), allowed(" Arguments allowed here: %s.", s.AttributeNames()))
	return d
}

func unknownBlock(header string, b *hclsyntax.Block, s *Schema) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unsupported block type", Subject: b.TypeRange.Ptr(), Context: b.DefRange().Ptr()}
	if s.attribute(b.Type) != nil {
		d.Detail = fmt.Sprintf("%q is an attribute in %s, not a block: write %s = { … } with an equals sign.", b.Type, header, b.Type)
		return d
	}
	if n := diagnostic.Nearest(b.Type, s.BlockTypes()); n != "" {
		d.Extra = Meant{header, n}
	}
	d.Detail = fmt.Sprintf("Blocks of type %q are not expected in %s.%s%s", b.Type, header,
		diagnostic.DidYouMean(b.Type, s.BlockTypes()), allowed(" Block types allowed here: %s.", s.BlockTypes()))
	return d
}

func allowed(format string, names []string) string {
	if len(names) == 0 {
		return " Nothing of that sort is allowed here."
	}
	return fmt.Sprintf(format, diagnostic.List(names))
}

// blockHeader is a block's header as in the source: gateway "mif".
func blockHeader(blockType string, labels []string) string {
	out := blockType
	for _, l := range labels {
		out += fmt.Sprintf(" %q", l)
	}
	return out
}

// Absent in a diagnostic's Extra lets the caller pair "x is missing" with a Meant of the same
// block: one mistake, told twice.
type Absent struct{ Header, Name string }

// Meant in a diagnostic's Extra says which name "xx is not expected, did you mean x" proposes.
type Meant struct{ Header, Name string }

// Paired drops from diagnostics what is absent only because it was misspelt.
func Paired(in hcl.Diagnostics) hcl.Diagnostics {
	meant := map[Meant]bool{}
	for _, d := range in {
		if m, ok := d.Extra.(Meant); ok {
			meant[m] = true
		}
	}
	var out hcl.Diagnostics
	for _, d := range in {
		if a, ok := d.Extra.(Absent); !ok || !meant[Meant(a)] {
			out = append(out, d)
		}
	}
	return out
}

// Missing says that a required argument is not there.
func Missing(at hcl.Range, header, name, doc string) *hcl.Diagnostic {
	if doc != "" {
		doc = " (" + strings.TrimSuffix(doc, ".") + ")"
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Missing required argument", Subject: &at, Extra: Absent{header, name},
		Detail: fmt.Sprintf("%s needs the argument %q%s, but no definition was found.", header, name, doc),
	}
}
