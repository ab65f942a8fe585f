// Package resource is the vocabulary of the product: what a block of the user's
// file is called (Address), which objects it wants to exist (Object, ID), and how
// a block type turns its options into objects (Kind, Scope, Expansion).
//
// It performs no I/O and knows no cluster. Mistakes of the author come back from
// Kind.Expand as diagnostics with source ranges; a mistake of ours (an unknown
// key type, a duplicate table row) panics.
package resource
