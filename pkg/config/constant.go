package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// constantOnly rewrites what the library says about references where none are possible.
func constantOnly(diags hcl.Diagnostics, blockType string) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary == "Variables not allowed" || d.Summary == "Unknown variable" || d.Summary == "Function calls not allowed" || strings.HasPrefix(d.Summary, "Call to unknown function") {
			d.Summary = "Plain value required"
			if d.Expression != nil {
				d.Subject = d.Expression.Range().Ptr()
			}
			d.Detail = fmt.Sprintf("The %s block is read before anything is evaluated, so references and functions are not possible here; write the value itself.", blockType)
		}
	}
	return diags
}
