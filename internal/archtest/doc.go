// Package archtest holds one test: the table of which package may import which. It
// has no code of its own and is imported by nothing.
package archtest
