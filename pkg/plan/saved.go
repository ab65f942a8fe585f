package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mifbench/mifbench/pkg/state"
)

// SavedFormat and SavedVersion head every saved plan.
const (
	SavedFormat  = "mifbench.plan"
	SavedVersion = 1
)

// Errors of saved plans, for errors.Is.
var (
	ErrNotAPlan  = errors.New("not a saved plan")
	ErrNewerPlan = errors.New("saved plan of a newer version")
	ErrStale     = errors.New("saved plan is stale")
)

// Basis is what a plan was made from; apply of a saved plan needs the same basis.
type Basis struct {
	// ConfigHash is a hash of the configuration's files and variables.
	ConfigHash string `json:"configHash"`
	Lineage    string `json:"lineage"`
	Serial     uint64 `json:"serial"`
	// Salt keys the fingerprints in the plan; see Saved.Identify.
	Salt string `json:"salt,omitempty"`
	// ClusterUID and ClusterCA are the cluster's state.ClusterID.
	ClusterUID string `json:"clusterUID"`
	ClusterCA  string `json:"clusterCA,omitempty"`
}

func (b Basis) cluster() state.ClusterID { return state.ClusterID{UID: b.ClusterUID, CA: b.ClusterCA} }

// Saved is a plan file. It holds no secret: apply reads the configuration again
// and must come to the same plan (Digest).
type Saved struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tool is the version of mifbench that wrote the file.
	Tool string `json:"tool,omitempty"`
	// Created is RFC 3339 text.
	Created string `json:"created,omitempty"`
	// ConfigDir is the absolute directory of the configuration.
	ConfigDir string `json:"configDir"`
	// Variables are the non-sensitive variables that were given; Sensitive names the others, which
	// must be given again at apply.
	Variables map[string]any `json:"variables,omitempty"`
	Sensitive []string       `json:"sensitiveVariables,omitempty"`
	Basis     Basis          `json:"basis"`
	// Options are the planning flags, so that apply plans the same.
	Options Options `json:"options"`
	Digest  string  `json:"digest"`
	Plan    Plan    `json:"plan"`
}

// Encode is the file's text.
func (s Saved) Encode() ([]byte, error) {
	s.Format, s.Version, s.Digest = SavedFormat, SavedVersion, s.Plan.Digest()
	s.Plan = s.Plan.Masked() // the digest has seen the fingerprints of secrets; the file need not
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the plan of stack %q: %w", s.Plan.Stack, err)
	}
	return append(text, '\n'), nil
}

// Decode reads what Encode wrote. The error answers errors.Is with ErrNotAPlan or ErrNewerPlan.
func Decode(text []byte) (Saved, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Saved{}, fmt.Errorf("%w: damaged or truncated (%w); plan again", ErrNotAPlan, err)
	}
	if head.Format != SavedFormat {
		return Saved{}, fmt.Errorf("%w: the file says it is %q; make one with `mifbench plan --out=FILE`", ErrNotAPlan, head.Format)
	}
	if head.Version > SavedVersion {
		return Saved{}, fmt.Errorf("%w: version %d, this mifbench knows up to %d; apply it with the mifbench that made it, or plan again",
			ErrNewerPlan, head.Version, SavedVersion)
	}
	var s Saved
	if err := json.Unmarshal(text, &s); err != nil {
		return Saved{}, fmt.Errorf("%w: %w; plan again", ErrNotAPlan, err)
	}
	return s, nil
}

// Write writes the plan file, readable by its owner only, all of it or nothing.
func Write(path string, s Saved) (err error) {
	text, err := s.Encode()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".plan-*")
	if err != nil {
		return fmt.Errorf("write plan %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write plan %s: %w", path, errors.Join(err, os.Remove(tmp.Name())))
		}
	}()
	if _, err = tmp.Write(text); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err = errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Read reads a plan file.
func Read(path string) (Saved, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Saved{}, fmt.Errorf("there is no plan file %s; make it with `mifbench plan --out=%s`: %w", path, path, err)
	}
	if err != nil {
		return Saved{}, fmt.Errorf("read plan: %w", err)
	}
	s, err := Decode(text)
	if err != nil {
		return Saved{}, fmt.Errorf("plan file %s: %w", path, err)
	}
	return s, nil
}

// Identify gives a state that was never saved the lineage and salt under which the plan was made,
// so that the plan of a new stack can be made again. Any other state comes back as it is. Call it
// on the prior state before CheckBasis and before planning again.
func (s Saved) Identify(prior state.State) state.State {
	if prior.Serial == 0 && s.Basis.Serial == 0 && s.Basis.Salt != "" {
		prior.Lineage, prior.Salt = s.Basis.Lineage, s.Basis.Salt
	}
	return prior
}

// CheckBasis refuses a saved plan whose ground has moved. The error answers
// errors.Is(err, ErrStale) and says what moved and that planning again is the way out.
func (s Saved) CheckBasis(now Basis) error {
	was := s.Basis
	same, comparable := was.cluster().Same(now.cluster())
	switch {
	case !comparable && was.cluster() != now.cluster():
		return stale("it names its cluster by %s, who applies it knows this one as %s: the same rights are needed", was.cluster(), now.cluster())
	case comparable && !same:
		return stale("it was made for cluster %s, this is cluster %s", was.cluster(), now.cluster())
	case was.Lineage != now.Lineage:
		return stale("it was made from another state (lineage %s, here %s)", was.Lineage, now.Lineage)
	case was.Serial < now.Serial:
		return stale("the state has moved on since (serial %d, now %d): somebody applied in between", was.Serial, now.Serial)
	case was.Serial > now.Serial:
		return stale("the state is older than the plan (serial %d, plan %d): an old copy was restored", now.Serial, was.Serial)
	case was.ConfigHash != now.ConfigHash:
		return stale("the configuration or its variables have changed since")
	}
	return nil
}

// CheckSame refuses when planning again came to something else. The error answers
// errors.Is(err, ErrStale) and names the objects that differ.
func (s Saved) CheckSame(fresh Plan) error {
	if s.Digest == fresh.Digest() {
		return nil
	}
	text := "the cluster has moved since"
	differences := Differences(s.Plan, fresh.Masked(), 10)
	if len(differences) == 0 {
		differences = []string{"a sensitive value has changed"}
	}
	for _, d := range differences {
		text += "\n  " + d
	}
	return stale("%s", text)
}

func stale(format string, args ...any) error {
	return fmt.Errorf("%w: %s; plan again", ErrStale, fmt.Sprintf(format, args...))
}
