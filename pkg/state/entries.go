package state

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/mifbench/mifbench/pkg/resource"
)

// New is the empty state of a stack: a fresh lineage (UUID, version 4) and salt, serial 0.
func New(stack string) State {
	return State{Stack: stack, Lineage: UUID(), Salt: randomHex(16)}
}

// UUID is a random identifier (RFC 9562, version 4) for lineages and locks.
func UUID() string {
	var b [16]byte
	read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func randomHex(n int) string {
	b := make([]byte, n)
	read(b)
	return hex.EncodeToString(b)
}

// read never fails: crypto/rand stops the program when the system has no randomness.
func read(b []byte) {
	if _, err := rand.Read(b); err != nil {
		panic(fmt.Sprintf("state: no randomness: %v", err))
	}
}

// Find returns the entry of an object by identity (driver and API version do not matter).
func (s State) Find(id resource.ID) (Entry, bool) {
	if i := s.index(id); i >= 0 {
		return s.Entries[i], true
	}
	return Entry{}, false
}

// Put adds an entry or replaces the one of the same object, keeping its place.
func (s *State) Put(e Entry) {
	if i := s.index(e.ID); i >= 0 {
		s.Entries[i] = e
		return
	}
	s.Entries = append(s.Entries, e)
}

// Drop removes an object's entry and tells whether there was one.
func (s *State) Drop(id resource.ID) bool {
	i := s.index(id)
	if i < 0 {
		return false
	}
	s.Entries = slices.Delete(s.Entries, i, i+1)
	return true
}

// At lists the entries of one block instance; an address without a key means all instances.
func (s State) At(a resource.Address) []Entry {
	var out []Entry
	for _, e := range s.Entries {
		has := e.Address
		if a.Key == "" {
			has.Key = ""
		}
		if has == a {
			out = append(out, e)
		}
	}
	return out
}

// Clone is a copy whose entries may be changed without touching the original.
func (s State) Clone() State {
	s.Entries = slices.Clone(s.Entries)
	return s
}

func (s State) index(id resource.ID) int {
	key := id.Key()
	return slices.IndexFunc(s.Entries, func(e Entry) bool { return e.ID.Key() == key })
}
