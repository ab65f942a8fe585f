package deploy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Saver is the part of a state store that the engine needs.
type Saver interface {
	// Save writes the state whose Serial is one more than the stored one.
	Save(ctx context.Context, s state.State) error
}

// saveTimeout bounds one write of the state once the run was cancelled.
const saveTimeout = 15 * time.Second

// keeper holds the state during a run. Each update returns after a save that
// contains it; updates that arrive during a save share the next one, so that 500
// objects do not mean 1000 writes of the whole file one after another.
type keeper struct {
	store Saver
	saved func(serial uint64)

	mu      sync.Mutex
	changed *sync.Cond
	state   state.State
	version int // of state in memory
	stored  int // version that the store has
	writing bool
}

func newKeeper(s state.State, store Saver, saved func(uint64)) *keeper {
	k := &keeper{store: store, state: s.Clone(), saved: saved}
	k.changed = sync.NewCond(&k.mu)
	return k
}

// update changes the state and returns when it is stored. It also saves after ctx was cancelled:
// what was done must not be forgotten.
func (k *keeper) update(ctx context.Context, change func(*state.State)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.state)
	k.version++
	return k.flush(ctx, k.version)
}

// flush returns when the store has at least the given version; k.mu is held.
func (k *keeper) flush(ctx context.Context, version int) error {
	for k.stored < version {
		if k.writing {
			k.changed.Wait()
			continue
		}
		if err := k.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write saves the present version; k.mu is held, but not while the store works.
func (k *keeper) write(ctx context.Context) error {
	next, version := k.state.Clone(), k.version
	next.Serial++
	k.writing = true
	k.mu.Unlock()
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	err := k.store.Save(save, next)
	cancel()
	k.mu.Lock()
	k.writing = false
	k.changed.Broadcast()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnsaved, err)
	}
	k.state.Serial, k.stored = next.Serial, version
	k.saved(next.Serial)
	return nil
}

// close makes a last attempt when something is unsaved and returns the state.
func (k *keeper) close(ctx context.Context) (state.State, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.flush(ctx, k.version)
	return k.state.Clone(), err
}

// entry reads one entry as it is now.
func (k *keeper) entry(id resource.ID) (state.Entry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state.Find(id)
}
