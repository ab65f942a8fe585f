package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"
)

// Store keeps one stack's state. Load and Save may be used without the lock only to show the
// state; whoever changes the world holds it.
type Store interface {
	// Load returns the state; a zero State (Lineage "") when nothing was ever saved.
	Load(ctx context.Context) (State, error)
	// Save writes a state whose Serial is one more than the stored one, all of it or nothing.
	// errors.Is(err, ErrMoved) when somebody saved meanwhile, ErrLineage for another lineage.
	Save(ctx context.Context, s State) error
	// Lock takes the lock or returns a *LockedError that names the holder. The lock is the
	// holder's until Unlock; a backend that can lose it (a Lease) fails Save afterwards.
	Lock(ctx context.Context, info LockInfo) (Lock, error)
	// ForceUnlock breaks the lock with this ID.
	ForceUnlock(ctx context.Context, id string) error
}

// Aside is implemented by stores that can put a state that cannot be read out of the way.
type Aside interface {
	// SetAside moves the stored state, whatever it is, to another place and names that. The caller
	// holds the lock. Nothing is thrown away.
	SetAside(ctx context.Context) (where string, err error)
}

// Lock is a lock that is held.
type Lock interface {
	// Unlock gives the lock back; it works after the context of Lock has ended.
	Unlock(ctx context.Context) error
}

// LockInfo names the holder of a lock.
type LockInfo struct {
	ID string `json:"id"`
	// Operation is the command: "apply".
	Operation string    `json:"operation"`
	Who       string    `json:"who"`
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	Created   time.Time `json:"created"`
	// Expires is when a lock that is renewed runs out by itself; zero for one that does not.
	Expires time.Time `json:"expires,omitzero"`
}

// NewLockInfo describes this process. What the system does not tell is left empty.
func NewLockInfo(operation string, now time.Time) LockInfo {
	info := LockInfo{ID: UUID(), Operation: operation, PID: os.Getpid(), Created: now.UTC()}
	if u, err := user.Current(); err == nil {
		info.Who = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		info.Host = h
	}
	return info
}

// LockedError says who holds the lock. It answers errors.Is(err, ErrLocked).
type LockedError struct {
	// Where is the state's place.
	Where string
	Info  LockInfo
	// Stale says why the holder seems to be gone, "" when it may be alive.
	Stale string
}

// Error names holder, operation and way out.
func (e *LockedError) Error() string {
	i := e.Info
	text := fmt.Sprintf("state %s is locked by %s@%s (pid %d) for %s since %s, lock ID %s",
		e.Where, i.Who, i.Host, i.PID, i.Operation, i.Created.Format(time.RFC3339), i.ID)
	if e.Stale != "" {
		return text + ": " + e.Stale + "; if it is really gone: mifbench force-unlock " + i.ID
	}
	return text + "; wait for it, or use --lock-timeout=5m"
}

// Unwrap is ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// Acquire takes the lock, trying again once a second for at most timeout.
func Acquire(ctx context.Context, s Store, info LockInfo, timeout time.Duration) (Lock, error) {
	deadline := time.Now().Add(timeout)
	for {
		l, err := s.Lock(ctx, info)
		if err == nil || !errors.Is(err, ErrLocked) || !time.Now().Add(time.Second).Before(deadline) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-time.After(time.Second):
		}
	}
}
