package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Local keeps the state in a file: written to a temporary file, synced, renamed,
// the file before this run kept as .backup, readable by its owner only. The lock is an OS
// file lock on a file beside it, so that it dies with its process.
type Local struct {
	path string
	// mu guards kept: the file as it was before this run's first save is in the backup.
	mu   sync.Mutex
	kept bool
}

var (
	_ Store = (*Local)(nil)
	_ Aside = (*Local)(nil)
)

// NewLocal is the store of one file. Nothing is touched yet.
func NewLocal(path string) *Local { return &Local{path: path} }

// Path is the state file.
func (l *Local) Path() string { return l.path }

// Load reads the file.
func (l *Local) Load(ctx context.Context) (State, error) {
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	text, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	s, err := Decode(text)
	if errors.Is(err, ErrDamaged) {
		return State{}, fmt.Errorf("state file %s: %w; the one before it is %s, and `mifbench state recover` rebuilds it from the cluster",
			l.path, err, l.backup())
	}
	if err != nil {
		return State{}, fmt.Errorf("state file %s: %w", l.path, err)
	}
	return s, nil
}

// Save replaces the file. When somebody else saved meanwhile nothing is lost: the state goes to
// a file with the suffix .conflict beside it and the error says so.
func (l *Local) Save(ctx context.Context, s State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stored, err := l.head()
	if err != nil {
		return fmt.Errorf("will not overwrite state file %s: %w", l.path, err)
	}
	text, err := Encode(s)
	if err != nil {
		return err
	}
	if err := successor(stored, s); err != nil {
		side := l.path + ".conflict"
		return fmt.Errorf("state file %s: %w; this run's state is in %s", l.path, errors.Join(err, l.replace(side, text)), side)
	}
	if stored.Lineage != "" {
		if err := l.keep(); err != nil {
			return fmt.Errorf("keep the former state as %s: %w", l.backup(), err)
		}
	}
	if err := l.replace(l.path, text); err != nil {
		return fmt.Errorf("write state %s: %w", l.path, err)
	}
	return nil
}

// head reads what successor compares; a whole decode at each save would cost more than the save.
func (l *Local) head() (State, error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return Head(text)
}

// successor checks that next may replace stored.
func successor(stored, next State) error {
	switch {
	case stored.Lineage == "":
		return nil
	case stored.Lineage != next.Lineage:
		return fmt.Errorf("%w: stored %s (stack %q), this one is %s (stack %q)", ErrLineage, stored.Lineage, stored.Stack, next.Lineage, next.Stack)
	case stored.Serial+1 != next.Serial:
		return fmt.Errorf("%w: stored serial %d, this one would be %d", ErrMoved, stored.Serial, next.Serial)
	}
	return nil
}

func (l *Local) backup() string { return l.path + ".backup" }

// keep copies the present file to the backup by the same safe way, once.
func (l *Local) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept {
		return nil
	}
	text, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	err = l.replace(l.backup(), text)
	l.kept = err == nil
	return err
}

// SetAside renames the file, so that a damaged one makes room for a recovered one.
func (l *Local) SetAside(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	to := l.path + ".damaged"
	for n := 2; ; n++ {
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			break
		}
		to = fmt.Sprintf("%s.damaged-%d", l.path, n)
	}
	if err := os.Rename(l.path, to); err != nil {
		return "", fmt.Errorf("set the damaged state aside: %w", err)
	}
	return to, syncDir(filepath.Dir(l.path))
}

// replace writes a file so that a crash leaves the old or the new one. CreateTemp makes it 0600.
func (l *Local) replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return syncDir(dir)
}

// syncDir makes the rename itself durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
