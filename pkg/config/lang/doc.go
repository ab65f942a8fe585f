// Package lang is the table of functions of the configuration language: those of go-cty's
// standard library and of the hcl extensions under the names that Terraform users know, and
// the few that need a directory, a file reader or the environment.
//
// Functions are pure but for file, templatefile, fileexists, filebase64, filesha256 and env.
// There is no clock and no randomness: the same files and variables give the same plan.
// Errors come back as function errors, which HCL turns into diagnostics with ranges.
package lang
