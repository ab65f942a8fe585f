// Package runner keeps run folders: which scenarios of a run are done, where the records of
// each attempt lie, and under what circumstances they were made. A folder is append-only: a
// scenario that is run again gets a new attempt beside the old one. Errors are wrapped and
// name the file. It knows neither cluster nor configuration.
package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Status of a scenario within a run.
type Status string

// The statuses.
const (
	Pending Status = "pending"
	Running Status = "running" // in a folder that nobody holds: the process died
	Done    Status = "done"
	Partial Status = "partial" // ended early; its records are kept and marked
	Failed  Status = "failed"  // could not be run
)

// Version of the manifest's format.
const Version = 1

const manifestName = "run.json"

// Manifest is the folder's table of contents.
type Manifest struct {
	Version   int        `json:"version"`
	ID        string     `json:"id"`
	Stack     string     `json:"stack"`
	Tool      string     `json:"tool"`
	Created   time.Time  `json:"created"`
	Scenarios []Scenario `json:"scenarios"`
	// Provenance is what a reader must know to repeat the run; holds no secret.
	Provenance map[string]any `json:"provenance,omitempty"`
}

// Scenario is one scenario of a run.
type Scenario struct {
	Name     string    `json:"name"`
	Status   Status    `json:"status"`
	Attempts []Attempt `json:"attempts,omitempty"`
}

// Attempt is one execution of a scenario.
type Attempt struct {
	// Dir is relative to the run folder.
	Dir      string    `json:"dir"`
	Status   Status    `json:"status"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	// Message says in one line how it ended, "" for well.
	Message string `json:"message,omitempty"`
}

// Folder is an open run folder.
type Folder struct {
	path string
	m    Manifest
}

// Create makes a new run folder below root with all scenarios pending.
func Create(root string, m Manifest, names []string) (*Folder, error) {
	m.Version = Version
	for _, n := range names {
		m.Scenarios = append(m.Scenarios, Scenario{Name: n, Status: Pending})
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	path := filepath.Join(root, m.ID)
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("run folder: %w", err)
		}
		path = filepath.Join(root, fmt.Sprintf("%s.%d", m.ID, n))
	}
	m.ID = filepath.Base(path)
	f := &Folder{path: path, m: m}
	return f, f.save()
}

// Open reads an existing run folder.
func Open(path string) (*Folder, error) {
	file := filepath.Join(path, manifestName)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a run folder: it has no %s: %w", path, manifestName, err)
	}
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	f := &Folder{path: path}
	if err := json.Unmarshal(text, &f.m); err != nil {
		return nil, fmt.Errorf("run folder: %s is damaged: %w", file, err)
	}
	if f.m.Version > Version {
		return nil, fmt.Errorf("run folder %s is of version %d, this mifbench knows up to %d; use a newer one", path, f.m.Version, Version)
	}
	return f, nil
}

// Path is the folder's own path.
func (f *Folder) Path() string { return f.path }

// Manifest is a copy of the table of contents.
func (f *Folder) Manifest() Manifest { return f.m }

// Unfinished names the scenarios that have no complete attempt, in order.
func (f *Folder) Unfinished() []string {
	var out []string
	for _, s := range f.m.Scenarios {
		if s.Status != Done {
			out = append(out, s.Name)
		}
	}
	return out
}

// NextAttempt names the scenario's next attempt, among those of all runs: what all clients of
// the attempt have in common and no other has.
func (f *Folder) NextAttempt(name string) string {
	n := 0
	if s, err := f.find(name); err == nil {
		n = len(s.Attempts)
	}
	return fmt.Sprintf("%s/%s/%d", f.m.ID, name, n+1)
}

// Begin starts an attempt and returns its directory, which is new and empty.
func (f *Folder) Begin(name string, now time.Time) (string, error) {
	s, err := f.find(name)
	if err != nil {
		return "", err
	}
	dir := fileName(name)
	if n := len(s.Attempts); n > 0 {
		dir = fmt.Sprintf("%s.%d", dir, n+1)
	}
	path := filepath.Join(f.path, dir)
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", fmt.Errorf("run folder: %w", err)
	}
	s.Status = Running
	s.Attempts = append(s.Attempts, Attempt{Dir: dir, Status: Running, Started: now})
	return path, f.save()
}

// End closes the scenario's newest attempt.
func (f *Folder) End(name string, status Status, message string, now time.Time) error {
	s, err := f.find(name)
	if err != nil {
		return err
	}
	if len(s.Attempts) == 0 {
		panic("runner: End without Begin: " + name)
	}
	a := &s.Attempts[len(s.Attempts)-1]
	a.Status, a.Message, a.Finished = status, message, now
	s.Status = status
	return f.save()
}

// Dir is where the scenario's newest attempt lies, "" when it was never begun.
func (f *Folder) Dir(name string) string {
	s, err := f.find(name)
	if err != nil || len(s.Attempts) == 0 {
		return ""
	}
	return filepath.Join(f.path, s.Attempts[len(s.Attempts)-1].Dir)
}

func (f *Folder) find(name string) (*Scenario, error) {
	var names []string
	for i := range f.m.Scenarios {
		if f.m.Scenarios[i].Name == name {
			return &f.m.Scenarios[i], nil
		}
		names = append(names, f.m.Scenarios[i].Name)
	}
	return nil, fmt.Errorf("run %s has no scenario %q, only %s", f.m.ID, name, strings.Join(names, ", "))
}

func (f *Folder) save() error { return WriteJSON(filepath.Join(f.path, manifestName), f.m) }

// WriteJSON replaces a file by the value's JSON, all of it or nothing, for its owner only.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// fileName makes a scenario's name, which may hold an instance key, fit for a path.
func fileName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.' && b.Len() > 0:
			b.WriteRune(r)
		case r == '[':
			b.WriteByte('.')
		}
	}
	if b.Len() == 0 {
		return "scenario"
	}
	return b.String()
}
