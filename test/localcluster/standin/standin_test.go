package standin

import (
	"slices"
	"strings"
	"testing"
)

func TestTableSaysWhatEachStandInDoesAndDoesNot(t *testing.T) {
	var seen []string
	for _, s := range table() {
		if s.name == "" || s.plays == "" || s.not == "" || s.start == nil {
			t.Errorf("row %q is incomplete", s.name)
		}
		if slices.Contains(seen, s.name) {
			t.Errorf("%q is there twice", s.name)
		}
		seen = append(seen, s.name)
	}
}

func TestStartRefusesUnknownNames(t *testing.T) {
	_, err := Start(t.Context(), Options{Only: []string{"istoi"}})
	if err == nil || !strings.Contains(err.Error(), `no stand-in is called "istoi"; there are presets`) {
		t.Errorf("got %v", err)
	}
}
