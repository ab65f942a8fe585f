package block

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// Decoded is what decoding found out beside the filled struct.
type Decoded struct {
	// Values are the top-level attributes after conversion, defaults included, marks kept.
	Values map[string]cty.Value
	// Secrets are the strings and numbers, in text form, that were marked as sensitive.
	Secrets []string

	tree *tree
}

// At is the range of an attribute or nested block by dotted path ("listener.http.port",
// "values.replicas"), of its nearest known parent otherwise; "" is the block itself.
// Repeated blocks are told apart by their labels or by index.
func (d *Decoded) At(path string) hcl.Range { return d.tree.at(path) }

// Source is where a body comes from.
type Source struct {
	// Header names the block in messages, Range is the block's header.
	Header string
	Range  hcl.Range
	Body   hcl.Body
	Ctx    *hcl.EvalContext
	// Unknown makes the diagnostic for a value that is not known; nil allows such values
	// (the field keeps its zero value).
	Unknown func(a *hcl.Attribute, v cty.Value) *hcl.Diagnostic
}

// Decode fills the struct that target points at, whose type s was made of. Unknown names
// are ignored, they are CheckNames' business. Labels are the caller's for the outermost
// block.
func (s *Schema) Decode(src Source, target any) (*Decoded, hcl.Diagnostics) {
	d := &decoder{src: src, out: &Decoded{Values: map[string]cty.Value{}}}
	v := reflect.ValueOf(target).Elem()
	if v.Type() != s.of {
		panic(fmt.Sprintf("block: schema of %s cannot fill %s", s.of, v.Type()))
	}
	d.out.tree = &tree{rng: src.Range}
	d.body(s, src.Header, src.Range, src.Body, v, d.out.tree, d.out.Values)
	return d.out, d.diags
}

type decoder struct {
	src   Source
	out   *Decoded
	diags hcl.Diagnostics
}

func (d *decoder) body(s *Schema, header string, rng hcl.Range, body hcl.Body, v reflect.Value, at *tree, values map[string]cty.Value) {
	content, _, diags := body.PartialContent(s.body())
	diags = withoutLabels(diags)
	d.diags = append(d.diags, diags...)
	for i := range s.Attributes {
		a := &s.Attributes[i]
		attr := content.Attributes[a.Name]
		if attr != nil {
			at.attrs = append(at.attrs, named{a.Name, attr})
		}
		if a.Format == "expression" {
			if attr != nil {
				v.Field(a.field).Set(reflect.ValueOf(attr.Expr))
			} else if a.Required {
				d.diags = append(d.diags, Missing(rng, header, a.Name, a.Doc))
			}
			continue
		}
		before := len(d.diags)
		if val, ok := d.attribute(a, attr, header, rng); ok {
			if values != nil {
				values[a.Name] = val
			}
			d.assign(a, attr, val, v.Field(a.field))
		}
		if a.Sensitive && attr != nil {
			hideSource(d.diags[before:])
		}
	}
	byType := content.Blocks.ByType()
	for i := range s.Blocks {
		n := &s.Blocks[i]
		d.blocks(n, header, rng, byType[n.Type], v.Field(n.field), at, !diags.HasErrors())
	}
}

// hideSource keeps the source lines of a sensitive attribute out of sight.
func hideSource(diags hcl.Diagnostics) {
	for _, d := range diags {
		d.Extra = diagnostic.HideSource
	}
}

// withoutLabels drops what CheckLabels says better.
func withoutLabels(in hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range in {
		if !strings.HasPrefix(d.Summary, "Missing name for ") && !strings.HasPrefix(d.Summary, "Extraneous label for ") {
			out = append(out, d)
		}
	}
	return out
}

// blocks decodes the nested blocks of one type. complete is false when the body itself had
// errors, so that a missing block is not held against the author twice.
func (d *decoder) blocks(n *Nested, header string, rng hcl.Range, found []*hcl.Block, field reflect.Value, at *tree, complete bool) {
	if len(found) < n.Min && complete {
		d.diags = append(d.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Missing block", Subject: rng.Ptr(), Extra: Absent{header, n.Type},
			Detail: fmt.Sprintf("%s needs a block of type %q: %s", header, n.Type, n.Doc),
		})
	}
	for i, b := range found {
		if n.Max > 0 && i >= n.Max {
			d.diags = append(d.diags, duplicate(n, header, found[0], b))
			return
		}
		d.block(n, b, i, slot(field), at)
	}
}

// slot is the place for one more block: an appended element, the pointed-at value, or the
// field itself.
func slot(field reflect.Value) reflect.Value {
	switch field.Kind() {
	case reflect.Slice:
		field.Set(reflect.Append(field, reflect.Zero(field.Type().Elem())))
		return field.Index(field.Len() - 1)
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return field.Elem()
	}
	return field
}

func (d *decoder) block(n *Nested, b *hcl.Block, index int, v reflect.Value, at *tree) {
	child := &tree{name: n.Type, labels: b.Labels, index: index, rng: b.DefRange}
	at.blocks = append(at.blocks, child)
	for i, l := range n.Labels {
		if i >= len(b.Labels) {
			return // CheckLabels has said it
		}
		v.Field(l.field).SetString(b.Labels[i])
	}
	d.body(n.Schema, blockHeader(b.Type, b.Labels), b.DefRange, b.Body, v, child, nil)
}

func duplicate(n *Nested, header string, first, second *hcl.Block) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Duplicate block", Subject: second.DefRange.Ptr(),
		Detail: fmt.Sprintf("Only one block of type %q is allowed in %s; the first is at %s.", n.Type, header, where(first.DefRange)),
	}
}

func where(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }
