package diagnostic

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// formatVersion is that of `terraform validate -json`, whose shape this is.
const formatVersion = "1.0"

type jsonResult struct {
	FormatVersion string           `json:"format_version"`
	Valid         bool             `json:"valid"`
	ErrorCount    int              `json:"error_count"`
	WarningCount  int              `json:"warning_count"`
	Diagnostics   []jsonDiagnostic `json:"diagnostics"`
}

type jsonDiagnostic struct {
	Severity string       `json:"severity"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Range    *jsonRange   `json:"range,omitempty"`
	Snippet  *jsonSnippet `json:"snippet,omitempty"`
}

type jsonRange struct {
	Filename string  `json:"filename"`
	Start    jsonPos `json:"start"`
	End      jsonPos `json:"end"`
}

type jsonPos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

type jsonSnippet struct {
	Context              *string     `json:"context"`
	Code                 string      `json:"code"`
	StartLine            int         `json:"start_line"`
	HighlightStartOffset int         `json:"highlight_start_offset"`
	HighlightEndOffset   int         `json:"highlight_end_offset"`
	Values               []jsonValue `json:"values"`
	FunctionCall         *jsonCall   `json:"function_call,omitempty"`
}

type jsonValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

type jsonCall struct {
	Signature string `json:"signature"`
}

// JSON is diagnostics in the shape that `terraform validate -json` prints, indented, with a
// newline at the end.
func JSON(files map[string]*hcl.File, diags hcl.Diagnostics) ([]byte, error) {
	out := jsonResult{FormatVersion: formatVersion, Valid: !diags.HasErrors(), Diagnostics: []jsonDiagnostic{}}
	for _, d := range diags {
		j := jsonDiagnostic{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity == hcl.DiagWarning {
			j.Severity = "warning"
			out.WarningCount++
		} else {
			out.ErrorCount++
		}
		if d.Subject != nil {
			j.Range = &jsonRange{d.Subject.Filename, jsonPos(d.Subject.Start), jsonPos(d.Subject.End)}
		}
		j.Snippet = toJSON(snippetOf(files, d))
		out.Diagnostics = append(out.Diagnostics, j)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("diagnostics as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

func toJSON(s *snippet) *jsonSnippet {
	if s == nil {
		return nil
	}
	out := &jsonSnippet{
		Code: s.code, StartLine: s.startLine, HighlightStartOffset: s.from, HighlightEndOffset: s.to, Values: []jsonValue{},
	}
	if s.context != "" {
		out.Context = &s.context
	}
	for _, v := range s.values {
		out.Values = append(out.Values, jsonValue{v.traversal, v.statement})
	}
	if s.call != "" {
		out.FunctionCall = &jsonCall{s.call}
	}
	return out
}
