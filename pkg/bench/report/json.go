package report

import (
	"encoding/json"
	"io"
)

// JSONVersion is the version of the json format.
const JSONVersion = 1

// JSON writes everything, with a version. Missing figures are null.
func JSON(w io.Writer, d Data) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Version int `json:"version"`
		Data
		Flags map[string][]string `json:"flags"`
	}{JSONVersion, d, flagsOf(d)})
}

// flagsOf collects the flags by scenario; scenarios without are left out.
func flagsOf(d Data) map[string][]string {
	m := map[string][]string{}
	for _, r := range d.Results {
		if f := r.Flags(); len(f) > 0 {
			m[r.Name] = f
		}
	}
	return m
}
