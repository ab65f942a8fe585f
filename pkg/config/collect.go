package config

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mifbench/mifbench/pkg/config/block"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// collector sorts the blocks of a module tree. Its diagnostics grow; nothing is evaluated.
type collector struct {
	language *language
	reader   *reader
	// flawed are blocks with wrong names inside.
	flawed map[*hclsyntax.Block]bool
	diags  hcl.Diagnostics
}

// module reads a directory and the modules that it calls.
func (c *collector) module(m *module) {
	bodies, diags := c.reader.directory(m.dir)
	c.diags = append(c.diags, diags...)
	for _, body := range bodies {
		c.topAttributes(body)
		for _, b := range body.Blocks {
			c.block(m, b)
		}
	}
	for _, name := range sorted(keys(m.modules)) {
		c.callee(m.modules[name])
	}
}

func sorted(names []string) []string {
	sort.Strings(names)
	return names
}

// topAttributes refuses name = value outside of blocks.
func (c *collector) topAttributes(body *hclsyntax.Body) {
	for _, a := range body.Attributes {
		detail := fmt.Sprintf("Outside of blocks there are no arguments; put %q into a block: locals { %s = … }.", a.Name, a.Name)
		if _, ok := c.language.root[a.Name]; ok {
			detail = fmt.Sprintf("%q is a block type: write it without the equals sign, %s.", a.Name, c.language.example(a.Name))
		}
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Argument outside of a block", Subject: a.NameRange.Ptr(), Context: a.Range().Ptr(), Detail: detail})
	}
}

func (c *collector) block(m *module, b *hclsyntax.Block) {
	row, ok := c.language.root[b.Type]
	if !ok {
		c.diags = append(c.diags, c.language.unknownBlock(b))
		return
	}
	diags := block.CheckLabels(b, row.schemas[0])
	c.diags = append(c.diags, diags...)
	if diags.HasErrors() {
		return
	}
	if m.parent != nil && row.rootOnly {
		c.diags = append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Block not allowed in a module", Subject: b.DefRange().Ptr(),
			Detail: fmt.Sprintf("A %s block belongs to the directory that mifbench is run in, not to a module; remove it here.", b.Type),
		})
		return
	}
	if !row.freeNames {
		diags := block.CheckNames(header(b), b.Body, row.schemas...)
		c.diags = append(c.diags, diags...)
		c.flawed[b] = diags.HasErrors()
	}
	if len(b.Labels) > 0 && !c.name(b, row) {
		return
	}
	row.collect(c, m, b)
}

// name holds a block's label against the rules for names.
func (c *collector) name(b *hclsyntax.Block, row *rootBlock) bool {
	if row.anyName || hclsyntax.ValidIdentifier(b.Labels[0]) {
		return true
	}
	c.diags = append(c.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Invalid name", Subject: b.LabelRanges[0].Ptr(), Context: b.DefRange().Ptr(),
		Detail: fmt.Sprintf("%q cannot be the name of a %s block: a name begins with a letter or underscore and holds letters, digits, underscores and dashes.", b.Labels[0], b.Type),
	})
	return false
}

// header is a block's header as in the source.
func header(b *hclsyntax.Block) string {
	out := b.Type
	for _, l := range b.Labels {
		out += fmt.Sprintf(" %q", l)
	}
	return out
}

// define puts a block into a map of definitions, refusing a second of the same name.
func define(c *collector, defs map[string]*hclsyntax.Block, b *hclsyntax.Block) bool {
	if first, dup := defs[b.Labels[0]]; dup {
		c.duplicate(b.DefRange(), header(b), first.DefRange())
		return false
	}
	defs[b.Labels[0]] = b
	return true
}

func (c *collector) duplicate(second hcl.Range, what string, first hcl.Range) {
	c.diags = append(c.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Duplicate definition", Subject: &second,
		Detail: fmt.Sprintf("%s was already defined at %s:%d; names must be different. Rename or remove one of the two.", what, first.Filename, first.Start.Line),
	})
}

// collectNamed is for resources, datasets and scenarios.
func collectNamed(c *collector, m *module, b *hclsyntax.Block) {
	if m.blocks[b.Type] == nil {
		m.blocks[b.Type] = map[string]*hclsyntax.Block{}
	}
	if define(c, m.blocks[b.Type], b) {
		m.order = append(m.order, m.id(b.Type, b.Labels[0]))
	}
}

func collectLocals(c *collector, m *module, b *hclsyntax.Block) {
	attrs := make([]*hclsyntax.Attribute, 0, len(b.Body.Attributes))
	for _, a := range b.Body.Attributes {
		attrs = append(attrs, a)
	}
	sort.Slice(attrs, func(i, j int) bool { return attrs[i].SrcRange.Start.Byte < attrs[j].SrcRange.Start.Byte })
	for _, nested := range b.Body.Blocks {
		c.diags = append(c.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Unsupported block type", Subject: nested.TypeRange.Ptr(), Context: nested.DefRange().Ptr(),
			Detail: fmt.Sprintf("A locals block holds name = value only; for an object write %s = { … } with an equals sign.", nested.Type),
		})
	}
	for _, a := range attrs {
		if first, dup := m.locals[a.Name]; dup {
			c.duplicate(a.NameRange, "local."+a.Name, first.NameRange)
			continue
		}
		m.locals[a.Name] = a
		m.order = append(m.order, m.id(classLocal, a.Name))
	}
}

func collectOutput(c *collector, m *module, b *hclsyntax.Block) {
	if define(c, m.outputs, b) {
		m.order = append(m.order, m.id(classOutput, b.Labels[0]))
	}
}

func collectMoved(_ *collector, m *module, b *hclsyntax.Block) { m.moved = append(m.moved, b) }

// collectOnly is for blocks of which there is one.
func collectOnly(place func(*module) **hclsyntax.Block) func(*collector, *module, *hclsyntax.Block) {
	return func(c *collector, m *module, b *hclsyntax.Block) {
		p := place(m)
		if *p != nil {
			c.duplicate(b.DefRange(), fmt.Sprintf("A %s block", b.Type), (*p).DefRange())
			return
		}
		*p = b
	}
}

// refusedModuleArguments are known to other tools, and not variables' names.
func refusedModuleArguments() []string { return []string{"providers", "version"} }

func collectModule(c *collector, m *module, b *hclsyntax.Block) {
	name := b.Labels[0]
	if first, dup := m.modules[name]; dup {
		c.duplicate(b.DefRange(), header(b), first.call.DefRange())
		return
	}
	for _, attr := range refusedModuleArguments() {
		if a := b.Body.Attributes[attr]; a != nil {
			c.diags = append(c.diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Unsupported argument", Subject: a.NameRange.Ptr(), Context: a.Range().Ptr(),
				Detail: fmt.Sprintf("A module block does not take %q here: modules are local directories without versions or providers of their own. Remove it.", attr),
			})
		}
	}
	for _, nested := range b.Body.Blocks {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unsupported block type", Subject: nested.TypeRange.Ptr(),
			Detail: "A module block holds source and the module's variables as arguments, no blocks."})
	}
	dir, ok := c.source(m, b)
	if !ok {
		return
	}
	child := newModule(m.child(name), dir, m)
	child.call = b
	m.modules[name] = child
}

// source is the directory of a module block's source.
func (c *collector) source(m *module, b *hclsyntax.Block) (string, bool) {
	a := b.Body.Attributes["source"]
	if a == nil {
		c.diags = append(c.diags, block.Missing(b.DefRange(), header(b), "source", "the module's directory, beginning with ./ or ../"))
		return "", false
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || v.Type().FriendlyName() != "string" {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid module source", Subject: a.Expr.Range().Ptr(), Context: a.Range().Ptr(),
			Detail: "The source of a module is read before anything is evaluated, so it must be a plain text such as \"./modules/pd-stack\"."})
		return "", false
	}
	source := v.AsString()
	if source != "." && source != ".." && !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Module source is not a local directory", Subject: a.Expr.Range().Ptr(), Context: a.Range().Ptr(),
			Detail: fmt.Sprintf("%q is not supported: modules come from directories beside this one only, so that a plan never depends on the network. Copy the module (or add it as a git submodule) and give its path, beginning with ./ or ../.", source)})
		return "", false
	}
	return filepath.Join(m.dir, source), true
}

// callee reads a called module unless that would never end.
func (c *collector) callee(m *module) {
	levels := 0
	for p := m.parent; p != nil; p = p.parent {
		levels++
		if p.dir == m.dir || levels > c.reader.limits.Modules {
			c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Module calls itself", Subject: m.call.DefRange().Ptr(),
				Detail: fmt.Sprintf("The module at %s is one of the modules that this block is part of, directly or through others.", m.dir)})
			return
		}
	}
	if info, err := os.Stat(m.dir); err != nil || !info.IsDir() {
		c.diags = append(c.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No such module", Subject: m.call.Body.Attributes["source"].Expr.Range().Ptr(),
			Detail: fmt.Sprintf("There is no directory at %s. The source is relative to the directory of this file.", m.dir)})
		return
	}
	c.module(m)
}

// unknownBlock answers a block type that does not exist.
func (l *language) unknownBlock(b *hclsyntax.Block) *hcl.Diagnostic {
	d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unsupported block type", Subject: b.TypeRange.Ptr(), Context: b.DefRange().Ptr()}
	if hint, ok := l.foreign[b.Type]; ok {
		d.Detail = fmt.Sprintf("There are no %s blocks here. %s", b.Type, hint)
		return d
	}
	names := keys(l.root)
	d.Detail = fmt.Sprintf("Blocks of type %q are not expected here.%s Block types: %s.", b.Type, diagnostic.DidYouMean(b.Type, names), diagnostic.List(names))
	return d
}
