// Package check holds the domain checks: what is wrong with a configuration that loads, and
// would only hurt after apply. One check is one file and one row in the table of table.go.
// Offline checks judge the configuration alone; the others judge it against a World, which
// Read fills through the interface Cluster, each list once.
//
// Checks are pure: the same Config and World give the same findings, in the order of the table
// and of the configuration. Mistakes of the author come back as hcl.Diagnostics with the range
// of the offending attribute; a value that is not known before apply is never held against
// the author, nor is what could not be read: that is reported as skipped, with the reason.
package check
