package clustertest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is one cluster for all tests of a package, started by the first that asks for it. Use it like this:
//
//	var cluster = clustertest.NewShared(clustertest.Nodes(5)) // in a _test.go file
//
//	func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }
//
//	func TestX(t *testing.T) { c := cluster.Get(t); … }
type Shared struct {
	opts []Option
	once sync.Once
	c    *Cluster
	err  error
}

// NewShared prepares a cluster; nothing is started yet.
func NewShared(opts ...Option) *Shared { return &Shared{opts: opts} }

// Get returns the cluster, starting it if need be. It skips the test when the binary is missing.
func (s *Shared) Get(t testing.TB) *Cluster {
	t.Helper()
	skipShort(t)
	s.once.Do(func() { s.c, s.err = start(s.opts) })
	if errors.Is(s.err, errNoBinary) && os.Getenv(RequireVariable) != "1" {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.c
}

// Main runs the tests and stops the cluster; it returns the exit code for TestMain.
func (s *Shared) Main(m *testing.M) int {
	code := m.Run()
	if s.c == nil {
		return code
	}
	if err := s.c.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return max(code, 1)
	}
	return code
}
