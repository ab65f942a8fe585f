// Package charts holds the sources of the Helm charts that the local control plane serves in place of published ones.
//
// They have the kinds, names, value keys and defaults of their models, so that what is learnt with them holds for the
// real charts, but none of their text, and they start nothing that computes.
package charts

import "embed"

// FS returns the chart directories, each under its chart's name.
func FS() embed.FS { return files }

// The prefix keeps files whose names begin with _ or a dot.
//
//go:embed all:heimdall
var files embed.FS
