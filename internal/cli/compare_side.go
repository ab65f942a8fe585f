package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/report"
)

// side reads what stands on one side of a comparison.
func (a *app) side(arg string) ([]labelled, error) {
	if row, ok := strings.CutPrefix(arg, publishedPrefix); ok {
		return publishedSide(row)
	}
	if info, err := os.Stat(a.path(arg)); err == nil && !info.IsDir() {
		return fileSide(arg, a.path(arg))
	}
	for _, path := range []string{a.path(arg), a.path(filepath.Join("runs", arg))} {
		if _, err := os.Stat(filepath.Join(path, measuredName)); err == nil {
			return attemptSide(arg, path)
		}
	}
	folder, err := a.openRun(arg)
	if err != nil {
		return a.scenarioSide(arg, err)
	}
	results, err := a.readResults(folder, nil, nil)
	return labelledAs(folder.Manifest().ID, results), err
}

// scenarioSide reads RUN/SCENARIO where the scenario's folder has another name.
func (a *app) scenarioSide(arg string, not error) ([]labelled, error) {
	run, name := filepath.Split(arg)
	if run == "" {
		return nil, not
	}
	folder, err := a.openRun(filepath.Clean(run))
	if err != nil {
		return nil, not
	}
	results, err := a.readResults(folder, []string{name}, nil)
	return labelledAs(folder.Manifest().ID, results), err
}

func labelledAs(run string, results []result) []labelled {
	var out []labelled
	for _, r := range results {
		out = append(out, labelled{run + "/" + r.Name, r.Report})
	}
	return out
}

func attemptSide(arg, dir string) ([]labelled, error) {
	r, err := readResult(dir, nil)
	if err != nil {
		return nil, err
	}
	return []labelled{{arg, r.Report}}, nil
}

func publishedSide(row string) ([]labelled, error) {
	var out []labelled
	var names []string
	for _, r := range publishedRows() {
		names = append(names, r.Name)
		if row == "" || row == r.Name {
			out = append(out, labelled{publishedPrefix + r.Name, r})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the published table has no row %q, only %s", row, strings.Join(names, ", "))
	}
	return out, nil
}

// fileSide reads the json format of a report.
func fileSide(arg, path string) ([]labelled, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", arg, err)
	}
	var data struct {
		Version int `json:"version"`
		report.Data
	}
	if err := json.Unmarshal(text, &data); err != nil || len(data.Results) == 0 {
		return nil, errors.Join(fmt.Errorf("%s holds no results: make it with mifbench report RUN --json --out %s", arg, arg), err)
	}
	if data.Version > report.JSONVersion {
		return nil, fmt.Errorf("%s is of version %d, this mifbench knows up to %d; use a newer one", arg, data.Version, report.JSONVersion)
	}
	var out []labelled
	for _, r := range data.Results {
		out = append(out, labelled{arg + "/" + r.Name, r})
	}
	return out, nil
}
