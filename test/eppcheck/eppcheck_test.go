package eppcheck_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/eppcheck"
)

var drawn = flag.String("cases", "", "also compare the drawn cases in this `file`")

func TestMain(m *testing.M) {
	eppcheck.Register()
	os.Exit(m.Run())
}

// testCase is a configuration and what is said of it; cases.yaml explains the words.
type testCase struct {
	Name   string         `json:"name"`
	Says   string         `json:"says"`
	Codes  []string       `json:"codes"`
	Config map[string]any `json:"config"`
}

// load returns the first error of several attempts: some configurations load only sometimes, as
// the loader goes through maps.
func (c testCase) load(t *testing.T) error {
	t.Helper()
	c.Config["apiVersion"], c.Config["kind"] = "inference.networking.x-k8s.io/v1alpha1", "EndpointPickerConfig"
	text, err := yaml.Marshal(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if err := eppcheck.Load(t.Context(), text); err != nil {
			return err
		}
	}
	return nil
}

func read(t *testing.T, file string) []testCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := yaml.UnmarshalStrict(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestGenerated loads what mifbench generates from its examples and good configurations.
func TestGenerated(t *testing.T) {
	files, err := filepath.Glob("testdata/generated/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no configurations: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := eppcheck.Load(t.Context(), text); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCases(t *testing.T) {
	for _, c := range read(t, "testdata/cases.yaml") {
		t.Run(c.Name, func(t *testing.T) {
			err := c.load(t)
			switch c.Says {
			case "accepted", "stricter":
				if err != nil {
					t.Errorf("the scheduler refuses it: %v", err)
				}
			case "refused":
				if err == nil {
					t.Error("the scheduler accepts it")
				}
			case "foreign":
				if err == nil || !strings.Contains(err.Error(), "is not found in registry") {
					t.Errorf("want a plugin type that is not found, got %v", err)
				}
			default:
				t.Errorf("what does %q say?", c.Says)
			}
		})
	}
}

// stricter are the checks that refuse what the scheduler starts with: it takes a default in
// silence (MIF005), or it cannot schedule a single request (MIF008).
func stricter() []string { return []string{"MIF005", "MIF008"} }

// TestDrawn: what the checks accept, the scheduler loads; what they refuse, it does not, but for
// the checks that are stricter.
func TestDrawn(t *testing.T) {
	if *drawn == "" {
		t.Skip("make eppcheck draws cases")
	}
	said := map[string]int{}
	for _, c := range read(t, *drawn) {
		err := c.load(t)
		text, merr := json.Marshal(c.Config)
		if merr != nil {
			t.Fatal(merr)
		}
		switch {
		case err != nil && c.Says == "accepted":
			t.Errorf("%s: the checks accept what the scheduler refuses: %v\n%s", c.Name, err, text)
		case err == nil && slices.ContainsFunc(c.Codes, func(code string) bool { return !slices.Contains(stricter(), code) }):
			t.Errorf("%s: %v refuse what the scheduler accepts\n%s", c.Name, c.Codes, text)
		case err == nil && c.Says == "refused":
			said["refused by the checks alone"]++
		default:
			said[c.Says+" by both"]++
		}
	}
	t.Logf("drawn cases: %v", said)
}
