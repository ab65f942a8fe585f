// Package examples holds complete configurations; mifbench init writes them. Its tests
// load, check, format and plan each of them offline, and hold the published one against
// the published manifests.
package examples

import "embed"

// Files are the configurations, each in a directory of its name.
//
//go:embed */*.mif.hcl
var Files embed.FS
