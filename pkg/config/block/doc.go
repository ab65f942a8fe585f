// Package block derives the schema of a configuration block from a Go struct and decodes
// block bodies by it. One struct drives everything: which names are legal, their types,
// defaults, allowed values, documentation and the schema dump, so they cannot drift.
//
// Struct tags: hcl:"name", hcl:"name,optional", hcl:"name,label", hcl:"name,block" as in
// gohcl, and beside them doc:"…", enum:"a,b", default:"…", sensitive:"true". Field types:
// what gocty understands, cty.Value (any type, zero when absent), hcl.Expression (not
// evaluated), time.Duration and encoding.TextUnmarshaler (written as strings), and for blocks T (exactly one), *T (at
// most one) or []T.
//
// A bad struct is our bug and panics; everything about the author's text comes back as
// hcl.Diagnostics, all of them, with the narrowest range that is known. Native syntax only.
package block
