package config

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format is the canonical layout of a configuration or variables file: indentation of two
// spaces, aligned equals signs, one newline at the end, \n line ends, no byte order mark.
// Comments stay. Formatting twice changes nothing more. A file with syntax errors is not
// formatted.
func Format(src []byte, filename string) ([]byte, hcl.Diagnostics) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if d := checkDepth(src, filename, DefaultLimits().Depth); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	if _, diags := hclwrite.ParseConfig(src, filename, hcl.InitialPos); diags.HasErrors() {
		return nil, explainSyntax(src, filename, diags)
	}
	return settle(src), nil
}

// maxPasses bounds the passes until the layout stands still; two are usual.
const maxPasses = 8

// settle formats until nothing changes: the library's one pass does not always reach its
// own fixed point.
func settle(src []byte) []byte {
	for range maxPasses {
		out := hclwrite.Format(tidyLines(src))
		if bytes.Equal(out, src) {
			break
		}
		src = out
	}
	return src
}

// tidyLines ends the file with one newline.
func tidyLines(src []byte) []byte {
	src = bytes.TrimRight(src, "\n \t")
	if len(src) == 0 {
		return nil
	}
	return append(append([]byte(nil), src...), '\n')
}
