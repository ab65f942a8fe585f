// Package deploytest is an in-memory world with a driver for it, for tests of the
// engine and of commands. Faults are scripted by step; Freeze stops the world
// after a number of effects as a killed process would. It is imported by tests only.
package deploytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// ErrKilled is what everything answers once the world is frozen.
var ErrKilled = errors.New("the process was killed")

// Thing is one object of the world.
type Thing struct {
	ID        resource.ID
	UID       string
	Owner     string
	Address   resource.Address
	Spec      map[string]any
	Version   int
	NotReady  string // reason why it is not ready, "" when it is
	Doomed    bool   // NotReady will not pass
	Finalizer string // holds the deletion
	Deleting  bool
	Made      int // how often it was created
}

// World holds things by ID.Key. It is safe for concurrent use.
type World struct {
	mu      sync.Mutex
	things  map[string]*Thing
	made    map[string]int
	uids    int
	effects int
	limit   int // effects until the freeze; <0 for never
	log     []string
	saved   state.State
}

// NewWorld is an empty world.
func NewWorld() *World {
	return &World{things: map[string]*Thing{}, made: map[string]int{}, limit: -1}
}

// Freeze kills the process after n more effects (changes of the world or saves of the state);
// a negative n thaws. The effect at which it dies has happened, its caller is told ErrKilled.
func (w *World) Freeze(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects, w.limit = 0, n
}

// Effects counts the effects since the last Freeze.
func (w *World) Effects() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.effects
}

// Log lists the effects as "apply key", "delete key", "gone key", "save serial".
func (w *World) Log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.log)
}

// Keys lists the things that exist.
func (w *World) Keys() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.things))
}

// Made tells how often an object was created.
func (w *World) Made(id resource.ID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made[id.Key()]
}

// Edit changes a thing by hand; f gets nil when it does not exist.
func (w *World) Edit(id resource.ID, f func(*Thing)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.things[id.Key()])
}

// Put makes a thing by hand.
func (w *World) Put(t Thing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uids++
	t.UID, t.Version = "uid-"+strconv.Itoa(w.uids), 1
	w.things[t.ID.Key()] = &t
}

// Remove deletes a thing by hand.
func (w *World) Remove(id resource.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.things, id.Key())
}

// effect counts one effect and runs it unless the world is frozen; w.mu is held.
func (w *World) effect(what string, run func()) error {
	if w.frozen() {
		return fmt.Errorf("%s: %w", what, ErrKilled)
	}
	run()
	w.effects++
	w.log = append(w.log, what)
	if w.frozen() {
		return fmt.Errorf("%s: %w", what, ErrKilled)
	}
	return nil
}

func (w *World) frozen() bool { return w.limit >= 0 && w.effects >= w.limit }
