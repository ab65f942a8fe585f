package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sayAll loads a configuration and wants every part in what the user is told.
func sayAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.mif.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(strings.ReplaceAll(told(t, file, ""), "│", " ")), " ")
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("lacks %q:\n%s", p, got)
		}
	}
}

// TestComplaint27UnknownAndMissingArguments: the allowed names, a suggestion, the block and its line.
func TestComplaint27UnknownAndMissingArguments(t *testing.T) {
	sayAll(t, "namespace \"bench\" {\n  nome = \"x\"\n}\n",
		`line 2, in namespace "bench"`, `An argument named "nome"`, `Did you mean "name"?`, "Arguments allowed here:", "labels and name")
	sayAll(t, "\nnamespace \"bench\" {\n}\n", "line 2, in namespace \"bench\"", `namespace "bench" needs the argument "name"`)
}

// TestComplaint28ConditionalTypes: the differing attribute and both types.
func TestComplaint28ConditionalTypes(t *testing.T) {
	sayAll(t, "locals {\n  x = true ? { port = 80 } : { port = [80] }\n}\noutput \"x\" { value = local.x }\n",
		"line 2, in locals", `Type mismatch for object attribute "port"`, "'true' value is number", "'false' value is tuple")
}

// TestComplaint29UnclosedDelimiters: the opener is pointed at, not the end of the file.
func TestComplaint29UnclosedDelimiters(t *testing.T) {
	sayAll(t, "gateway \"mif\" {\n  listener \"http\" {\n    port = 80\n\nnamespace \"x\" {\n  name = \"x\"\n}\n", "Unclosed brace", "line 2,")
	sayAll(t, "locals {\n  text = <<EOT\nsome\nEOT trailing\n}\n", "Unclosed heredoc", "line 2, in locals", "needs a line that holds only EOT", "nor behind it")
	sayAll(t, "locals {\n  x = [1, 2\n}\n", "Unclosed bracket", "line 2,")
}
