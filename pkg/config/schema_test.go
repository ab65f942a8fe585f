package config_test

import (
	"encoding/json"
	"testing"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/lang"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

func TestSchemaGolden(t *testing.T) {
	b, err := json.MarshalIndent(config.Schema(fakeKinds()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "testdata/schema.json", string(b)+"\n")
}

// TestEverythingIsDocumented walks the language with the real kinds.
func TestEverythingIsDocumented(t *testing.T) {
	var walk func(path string, b config.SchemaBlock)
	walk = func(path string, b config.SchemaBlock) {
		if b.Description == "" {
			t.Errorf("%s has no description", path)
		}
		for _, l := range b.Labels {
			if l.Description == "" {
				t.Errorf("label %s of %s has no description", l.Name, path)
			}
		}
		for _, a := range b.Attributes {
			if a.Description == "" {
				t.Errorf("%s.%s has no description", path, a.Name)
			}
		}
		for _, n := range b.Blocks {
			walk(path+"."+n.Type, n)
		}
	}
	s := config.Schema(kinds.All())
	for _, b := range s.Blocks {
		walk(b.Type, b)
	}
	last := ""
	for _, f := range lang.Functions(lang.World{}) {
		if f.Doc == "" || f.Name <= last {
			t.Errorf("function %s: documented and sorted, please", f.Name)
		}
		last = f.Name
	}
}
