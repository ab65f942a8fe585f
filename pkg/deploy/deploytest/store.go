package deploytest

import (
	"context"
	"fmt"

	"github.com/mifbench/mifbench/pkg/state"
)

// Store keeps the state in the world; its saves are effects, so that Freeze stops them, too.
type Store struct {
	World *World
	// Fail makes every save fail with this error.
	Fail error
}

// Save is part of deploy.Saver. The state goes through its file format.
func (s *Store) Save(_ context.Context, next state.State) error {
	if s.Fail != nil {
		return s.Fail
	}
	text, err := state.Encode(next)
	if err != nil {
		return err
	}
	read, err := state.Decode(text)
	if err != nil {
		return err
	}
	w := s.World
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.saved.Lineage != "" && w.saved.Serial+1 != next.Serial {
		return fmt.Errorf("serial %d after %d: %w", next.Serial, w.saved.Serial, state.ErrMoved)
	}
	return w.effect(fmt.Sprintf("save %d", next.Serial), func() { w.saved = read })
}

// State is what was saved last; the stack's new state when nothing was.
func (s *Store) State(stack string) state.State {
	s.World.mu.Lock()
	defer s.World.mu.Unlock()
	if s.World.saved.Lineage == "" {
		return state.New(stack)
	}
	return s.World.saved.Clone()
}
