package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Lock takes the OS lock and writes who holds it. A note of a process of this host that died is
// taken over: its OS lock died with it. A note of another host is not: the file system may not
// carry locks between hosts.
func (l *Local) Lock(ctx context.Context, info LockInfo) (Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held, err := l.try()
	if err != nil {
		return nil, err
	}
	note, err := l.note()
	if err == nil && note.ID != "" && note.Host != info.Host {
		err = &LockedError{Where: l.path, Info: note, Stale: "that host cannot be asked whether it is alive"}
	}
	if err == nil {
		err = l.sign(info)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return &localLock{store: l, held: held, id: info.ID}, nil
}

// ForceUnlock clears the note of a holder that is gone. A holder that is alive on this host
// keeps its lock: only the end of that process frees it.
func (l *Local) ForceUnlock(ctx context.Context, id string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	held, err := l.try()
	if err != nil {
		return fmt.Errorf("force-unlock %s: %w (the process is alive; stop it instead)", id, err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	note, err := l.note()
	switch {
	case err != nil:
		return err
	case note.ID == "":
		return fmt.Errorf("force-unlock %s: state %s is not locked", id, l.path)
	case note.ID != id:
		return fmt.Errorf("force-unlock: state %s is locked with ID %s, not %s", l.path, note.ID, id)
	}
	return l.clear()
}

// try takes the OS lock without waiting.
func (l *Local) try() (*flock.Flock, error) {
	f := flock.New(l.lockPath(), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock state %s: %w", l.path, err)
	}
	if ok {
		return f, nil
	}
	note, err := l.note()
	if err != nil {
		return nil, fmt.Errorf("%w: %s (its note cannot be read: %w)", ErrLocked, l.path, err)
	}
	return nil, &LockedError{Where: l.path, Info: note}
}

func (l *Local) lockPath() string {
	return filepath.Join(filepath.Dir(l.path), "."+filepath.Base(l.path)+".lock")
}

// notePath is beside the lock file: on some systems a locked file cannot be read by others.
func (l *Local) notePath() string { return l.lockPath() + ".info" }

// note reads who holds the lock; a torn note counts as none, since the OS lock is the lock.
func (l *Local) note() (LockInfo, error) {
	text, err := os.ReadFile(l.notePath())
	if errors.Is(err, fs.ErrNotExist) {
		return LockInfo{}, nil
	}
	if err != nil {
		return LockInfo{}, err
	}
	var info LockInfo
	if json.Unmarshal(text, &info) != nil {
		return LockInfo{}, nil
	}
	return info, nil
}

func (l *Local) sign(info LockInfo) error {
	text, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(l.notePath(), append(text, '\n'), 0o600)
}

func (l *Local) clear() error {
	if err := os.Remove(l.notePath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// localLock is a held OS lock. The empty lock file stays: removing it would let two processes
// lock two files of one name.
type localLock struct {
	store *Local
	held  *flock.Flock
	id    string
}

// Unlock removes the note and frees the OS lock.
func (k *localLock) Unlock(context.Context) error {
	note, err := k.store.note()
	if err == nil && note.ID == k.id {
		err = k.store.clear()
	}
	if err = errors.Join(err, k.held.Close()); err != nil {
		return fmt.Errorf("unlock state %s: %w", k.store.path, err)
	}
	return nil
}
