package kinds

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/resource"
)

// maxName is the longest name that may become a label value or part of a pod's host name.
const maxName = 63

// checkDNSLabel holds a name against RFC 1123 labels, which namespaces, Services and the
// names that become label values must be.
func checkDNSLabel(s resource.Scope, path, name string) hcl.Diagnostics {
	label := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	switch {
	case len(name) > maxName:
		return hcl.Diagnostics{s.Error(path, "Name too long", fmt.Sprintf("%q has %d characters; Kubernetes allows %d here, because the name becomes a label value.", name, len(name), maxName))}
	case !label.MatchString(name):
		return hcl.Diagnostics{s.Error(path, "Invalid name", fmt.Sprintf("%q is not a valid name: use lower-case letters, digits and '-', beginning and ending with a letter or digit%s.", name, lowerHint(name)))}
	}
	return nil
}

func lowerHint(name string) string {
	fixed := strings.ToLower(strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(name))
	fixed = strings.Trim(regexp.MustCompile(`[^-a-z0-9]+`).ReplaceAllString(fixed, ""), "-")
	if fixed == "" || fixed == name {
		return ""
	}
	return fmt.Sprintf(", for example %q", fixed)
}
