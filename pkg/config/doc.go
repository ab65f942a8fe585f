// Package config reads the *.mif.hcl files of a directory into a typed, validated Config:
// variables, locals, resources expanded to objects in dependency order, datasets,
// scenarios, outputs, local modules. Every value keeps its source range.
//
// It touches no cluster, imports no resource kind (kinds come in through Options) and
// writes nothing. The same files, variables and environment give the same Config.
//
// Mistakes of the author come back as hcl.Diagnostics, all of them in one go, sorted by
// place, each with a range and a way out; an unreadable file is one of them. A mistake of
// ours, such as a kind whose options struct has bad tags, panics. Values marked as
// sensitive appear in no diagnostic; where they end in an object the object's Sensitive
// lists the place.
//
// How it works: files are parsed and sorted into blocks (source.go, collect.go), every
// block that has a value becomes a node of a graph whose edges are the references in its
// expressions (reference.go, graph.go), and nodes are evaluated once each in dependency
// order (evaluate.go and the files named after the blocks).
package config
