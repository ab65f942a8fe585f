package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Format and Version head every state file.
const (
	Format  = "mifbench.state"
	Version = 1
)

// Errors of state files, for errors.Is. The wrapping text names the file and the way out.
var (
	ErrDamaged = errors.New("state is damaged")
	ErrNewer   = errors.New("state was written by a newer mifbench")
	ErrLineage = errors.New("state of another lineage")
	ErrMoved   = errors.New("state was changed by somebody else meanwhile")
	ErrLocked  = errors.New("state is locked")
)

type file struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	State
}

// Encode is the text of a state file: JSON, the header first and indented, then one line an entry:
// Save reads the header alone, and a line diff of two states shows the entries that differ.
func Encode(s State) ([]byte, error) {
	head := struct {
		file
		Entries []Entry `json:"entries,omitempty"` // hides the entries of State
	}{file: file{Format: Format, Version: Version, State: s}}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the state of stack %q: %w", s.Stack, err)
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(text, []byte("\n}")))
	out.WriteString(",\n  \"entries\": [")
	for i, e := range s.Entries {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode the state's entry of %s: %w", e.ID, err)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	return out.Bytes(), nil
}

// Head reads what stands before the entries: stack, lineage, serial, cluster, salt. It does not
// look at the rest and so does not notice damage there.
func Head(text []byte) (State, error) {
	before, _, found := bytes.Cut(text, []byte("\n  \"entries\": ["))
	if !found {
		return Decode(text)
	}
	return Decode(append(bytes.TrimSuffix(bytes.Clone(before), []byte(",")), '}'))
}

// Decode reads every version that Encode ever wrote. Numbers without a fraction come back as
// int64. The error answers errors.Is with ErrDamaged or ErrNewer.
func Decode(text []byte) (State, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.Format != Format {
		return State{}, fmt.Errorf("%w: format is %q, not %q", ErrDamaged, head.Format, Format)
	}
	read, ok := versions[head.Version]
	if !ok && head.Version > Version {
		return State{}, fmt.Errorf("%w: version %d, this one knows up to %d; use the newer mifbench", ErrNewer, head.Version, Version)
	}
	if !ok {
		return State{}, fmt.Errorf("%w: version %d", ErrDamaged, head.Version)
	}
	s, err := read(text)
	if err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return s, nil
}

// versions are the readers of all formats; a new version is a new row and keeps the old ones.
//
//nolint:gochecknoglobals // a table that nothing changes
var versions = map[int]func([]byte) (State, error){
	1: readV1,
}

func readV1(text []byte) (State, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var f file
	if err := d.Decode(&f); err != nil {
		return State{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("there is text after the end of the state")
	}
	if f.Lineage == "" || f.Salt == "" {
		return State{}, errors.New("lineage or salt is missing")
	}
	f.Outputs = numbersIn(f.Outputs)
	for i := range f.Entries {
		f.Entries[i].Facts = numbersIn(f.Entries[i].Facts)
	}
	return f.State, nil
}

func numbersIn(m map[string]any) map[string]any {
	for k, v := range m {
		m[k] = number(v)
	}
	return m
}

// number turns json.Number into int64 where it fits, float64 otherwise.
func number(v any) any {
	switch t := v.(type) {
	case json.Number:
		if i, err := t.Int64(); err == nil {
			return i
		}
		f, err := t.Float64()
		if err != nil {
			return t.String()
		}
		return f
	case map[string]any:
		return numbersIn(t)
	case []any:
		for i := range t {
			t[i] = number(t[i])
		}
	}
	return v
}
