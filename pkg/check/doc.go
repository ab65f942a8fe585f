// Package check holds the domain checks: what is wrong with a configuration that loads, can
// be told without a cluster, and would only hurt after apply. One check is one file and one
// row in the table of table.go.
//
// Checks are pure: the same Config gives the same findings, in the order of the table and
// of the configuration. Mistakes of the author come back as hcl.Diagnostics with the range
// of the offending attribute; a value that is not known before apply is never held against
// the author. What needs a cluster (templates, free GPUs, CRDs) is not checked here.
package check
