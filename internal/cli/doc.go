// Package cli is the command line: one file a command, the only place that wires the
// other packages together and that knows exit codes. A command's result goes to stdout,
// its conversation to stderr. Diagnostics are printed with their source, other errors as
// one "error:" block; nothing is printed twice and nothing is swallowed.
package cli
