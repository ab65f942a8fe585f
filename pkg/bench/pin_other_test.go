//go:build !linux

package bench_test

// pinned starts a role; only Linux can give it a core of its own.
func pinned(_ string, start func() error) error { return start() }
