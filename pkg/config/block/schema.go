package block

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"
)

// Schema is what a block's body may hold.
type Schema struct {
	// Type is the block type, Doc one sentence.
	Type, Doc  string
	Labels     []Label
	Attributes []Attribute
	Blocks     []Nested

	of reflect.Type
}

// Label is one label of a block's header.
type Label struct {
	Name, Doc string
	Enum      []string
	field     int
}

// Attribute is one attribute of a body.
type Attribute struct {
	Name, Doc string
	// Type is the type that values are converted to; cty.DynamicPseudoType means any.
	Type cty.Type
	// Format tells how a string is read further: "" or "duration" or the name of a Go type
	// that unmarshals text; "expression" is handed over unevaluated.
	Format    string
	Required  bool
	Sensitive bool
	// Enum lists the allowed values of a string, or of the elements of a list of strings.
	Enum []string
	// Default is the default in source form, nil when there is none.
	Default *string
	field   int
}

// Nested is a block type that a body may hold.
type Nested struct {
	*Schema
	// Min is 0 or 1; Max is 1, or 0 for any number.
	Min, Max int
	field    int
}

// Of is the schema of a block type whose options are the given struct, or pointer to one.
func Of(blockType, doc string, options any) *Schema {
	t := reflect.TypeOf(options)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return of(blockType, doc, t)
}

func of(blockType, doc string, t reflect.Type) *Schema {
	s := &Schema{Type: blockType, Doc: doc, of: t}
	for i := range t.NumField() {
		f := t.Field(i)
		name, role, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		if name == "" {
			continue
		}
		switch role {
		case "", "optional":
			s.Attributes = append(s.Attributes, attribute(t, i, name, role == ""))
		case "label":
			s.Labels = append(s.Labels, Label{Name: name, Doc: f.Tag.Get("doc"), Enum: enum(f), field: i})
		case "block":
			s.Blocks = append(s.Blocks, nested(f, i, name))
		default:
			panic(fmt.Sprintf("block: %s.%s: tag %q is not supported", t, f.Name, role))
		}
	}
	return s
}

func attribute(t reflect.Type, i int, name string, required bool) Attribute {
	f := t.Field(i)
	a := Attribute{
		Name: name, Doc: f.Tag.Get("doc"), Required: required, Enum: enum(f),
		Sensitive: f.Tag.Get("sensitive") == "true", field: i,
	}
	if d, ok := f.Tag.Lookup("default"); ok {
		a.Default = &d
	}
	base := f.Type
	if base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	switch {
	case base == reflect.TypeFor[hcl.Expression]():
		a.Type, a.Format = cty.DynamicPseudoType, "expression"
	case base == reflect.TypeFor[cty.Value]():
		a.Type = cty.DynamicPseudoType
	case base == reflect.TypeFor[time.Duration]():
		a.Type, a.Format = cty.String, "duration"
	case reflect.PointerTo(base).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		a.Type, a.Format = cty.String, strings.ToLower(base.Name())
	default:
		ty, err := gocty.ImpliedType(reflect.New(base).Elem().Interface())
		if err != nil {
			panic(fmt.Sprintf("block: %s.%s: %v", t, f.Name, err))
		}
		a.Type = ty
	}
	return a
}

func nested(f reflect.StructField, i int, name string) Nested {
	n := Nested{Min: 1, Max: 1, field: i}
	t := f.Type
	switch t.Kind() {
	case reflect.Slice:
		n.Min, n.Max, t = 0, 0, t.Elem()
	case reflect.Pointer:
		n.Min, t = 0, t.Elem()
	}
	n.Schema = of(name, f.Tag.Get("doc"), t)
	return n
}

func enum(f reflect.StructField) []string {
	if e := f.Tag.Get("enum"); e != "" {
		return strings.Split(e, ",")
	}
	return nil
}

// body is the schema that the HCL library wants. Nothing is required in it: what is missing
// is for decode to say, with a list of what exists.
func (s *Schema) body() *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for _, a := range s.Attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: a.Name})
	}
	for _, b := range s.Blocks {
		out.Blocks = append(out.Blocks, hcl.BlockHeaderSchema{Type: b.Type, LabelNames: b.LabelNames()})
	}
	return out
}

// LabelNames are the names of the labels in order.
func (s *Schema) LabelNames() []string {
	var out []string
	for _, l := range s.Labels {
		out = append(out, l.Name)
	}
	return out
}

// AttributeNames are the legal attribute names in struct order.
func (s *Schema) AttributeNames() []string {
	out := make([]string, len(s.Attributes))
	for i, a := range s.Attributes {
		out[i] = a.Name
	}
	return out
}

// BlockTypes are the legal nested block types in struct order.
func (s *Schema) BlockTypes() []string {
	out := make([]string, len(s.Blocks))
	for i, b := range s.Blocks {
		out[i] = b.Type
	}
	return out
}

func (s *Schema) attribute(name string) *Attribute {
	for i := range s.Attributes {
		if s.Attributes[i].Name == name {
			return &s.Attributes[i]
		}
	}
	return nil
}

func (s *Schema) block(name string) *Nested {
	for i := range s.Blocks {
		if s.Blocks[i].Type == name {
			return &s.Blocks[i]
		}
	}
	return nil
}
