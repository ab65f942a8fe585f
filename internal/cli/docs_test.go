package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
)

const docsDir = "../../docs"

func TestGeneratedPagesAreFresh(t *testing.T) {
	for _, p := range pages() {
		got, err := os.ReadFile(filepath.Join(docsDir, p.name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.render(&app{}), string(got)); diff != "" {
			t.Errorf("docs/%s is stale; run scripts/generate.sh:\n%s", p.name, diff)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		if c.Runnable() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, line := range strings.Split(c.Example, "\n") {
			if !strings.HasPrefix(line, "  ") && line != "" {
				t.Errorf("%s: the example line %q is not indented", c.CommandPath(), line)
			}
		}
	})
}

// TestDocumentedConfigurations: every HCL block of the documentation is formatted and means
// something. One that is a configuration of its own loads; one that begins with "# …" or is
// not complete (marked by "…") is held for its layout only.
func TestDocumentedConfigurations(t *testing.T) {
	for _, file := range markdown(t) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range hclBlocks(string(src)) {
			out, diags := config.Format([]byte(code), file)
			if diags.HasErrors() {
				t.Errorf("%s, block %d: %s: %s\n%s", file, i+1, diags[0].Summary, diags[0].Detail, code)
				continue
			}
			if diff := cmp.Diff(code, string(out)); diff != "" {
				t.Errorf("%s, block %d is not formatted:\n%s", file, i+1, diff)
			}
			loads(t, file, code)
		}
	}
}

// loads reads a block as a configuration. Variables that it declares get a value; what it
// refers to and does not define is another block's business.
func loads(t *testing.T, file, code string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.mif.hcl"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{chdir: dir, env: Env{}}
	_, diags := a.examine(documentedValues(code))
	for _, d := range diags {
		if strings.HasPrefix(d.Summary, "Reference to something undeclared") {
			continue
		}
		t.Errorf("%s: %s: %s\n%s", file, d.Summary, d.Detail, code)
	}
}

func documentedValues(code string) []config.VarArg {
	var out []config.VarArg
	for _, m := range regexp.MustCompile(`(?ms)^variable "(\w+)" \{(.*?)\}$|^variable "(\w+)" \{([^\n]*)\}$`).FindAllStringSubmatch(code, -1) {
		if name, body := m[1]+m[3], m[2]+m[4]; !strings.Contains(body, "default") {
			value := "/value"
			switch {
			case strings.Contains(body, "number"):
				value = "1"
			case strings.Contains(body, "bool"):
				value = "true"
			}
			out = append(out, config.VarArg{Assignment: name + "=" + value})
		}
	}
	return out
}

func hclBlocks(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// markdown are the README and the pages of docs/.
func markdown(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, top := range []string{"../../README.md", "../../CONTRIBUTING.md"} {
		if _, err := os.Stat(top); err == nil {
			out = append(out, top)
		}
	}
	err := filepath.WalkDir(docsDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
