package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/config"
)

func TestHostileInputIsAnswered(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"byte order mark and CRLF", "\ufeffservice \"a\" {\r\n  name = \"a\"\r\n}\r\n", ""},
		{"deep brackets", "locals { x = " + strings.Repeat("[", 100_000), "Nesting too deep"},
		{"deep blocks", strings.Repeat("a {\n", 100_000), "Nesting too deep"},
		{"many nots", "locals { x = " + strings.Repeat("!", 100_000) + "true }", "Nesting too deep"},
		{"many minus signs", "locals { x = " + strings.Repeat("-", 100_000) + "1 }", "Nesting too deep"},
		{"long sum", "locals { x = 1" + strings.Repeat("+1", 100_000) + " }", "Nesting too deep"},
		{"long sum over lines", "locals { x = (1" + strings.Repeat("\n+1", 100_000) + ") }", "Nesting too deep"},
		{"long conditional", "locals { x = " + strings.Repeat("true ? 1 : ", 100_000) + "1 }", "Nesting too deep"},
		{"long index chain", "locals { x = local.y" + strings.Repeat("[0]", 100_000) + " }", "Nesting too deep"},
		{"deep templates", "locals { x = " + strings.Repeat(`"${`, 50_000), "Nesting too deep"},
		{"deep template directives", "locals {\n x = <<EOT\n" + strings.Repeat("%{ if true }", 50_000) + "\nEOT\n}", "Nesting too deep"},
		{"deep JSON", "locals { x = jsondecode(\"" + strings.Repeat("[", 1_000_000) + "\") }", "Invalid function argument"},
		{"deep YAML", "locals { x = yamldecode(\"" + strings.Repeat("[", 1_000_000) + "\") }", "Invalid function argument"},
		{"YAML bomb", "locals {\n x = yamldecode(<<EOT\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\nEOT\n)\n}", "Invalid function argument"},
		{"doubling text", doubling(`"${local.x%d}${local.x%d}"`, 40), "Value too large"},
		{"doubling list", doubling(`[local.x%d, local.x%d]`, 40), "Value too large"},
		{"count without end", "service \"a\" {\n  count = 1000000\n  name = \"a\"\n}", "Invalid count"},
		{"NUL", "locals { x = \"\x00\" }", ""},
		{"not UTF-8", "locals { x = \"\xff\xfe\" }", "Invalid character encoding"},
		{"wide format", `locals { x = format("%999999999d", 1) }`, "Invalid function argument"},
		{"wide range", `locals { x = range(0, 1e12) }`, "Error in function call"},
		{"wide indent", `locals { x = indent(1000000000000, "a\nb") }`, "Invalid function argument"},
		{"thousands of cycles", cycles(5000), "Cycle; Cycle"},
		{"thousands of undeclared names", undeclared(5000), "Reference to something undeclared"},
		{"empty file", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := load(t, c.text, config.Options{})
			if got := summaries(diags); c.want == "" && diags.HasErrors() || !strings.Contains(got, c.want) {
				t.Errorf("got %.300q, want %q", got, c.want)
			}
		})
	}
}

func cycles(n int) string {
	var b strings.Builder
	b.WriteString("locals {\n")
	for i := range n {
		b.WriteString("  x" + itoa(i) + " = local.x" + itoa(i) + "\n")
	}
	return b.String() + "}\n"
}

func undeclared(n int) string {
	var b strings.Builder
	b.WriteString("locals {\n")
	for i := range n {
		b.WriteString("  x" + itoa(i) + " = local.y" + itoa(i) + "\n")
	}
	return b.String() + "}\n"
}

// doubling is a chain of locals each of which holds the one before twice.
func doubling(format string, n int) string {
	var b strings.Builder
	b.WriteString("locals {\n  x0 = \"0123456789\"\n")
	for i := range n {
		expr := strings.ReplaceAll(format, "%d", itoa(i))
		b.WriteString("  x" + itoa(i+1) + " = " + expr + "\n")
	}
	return b.String() + "}\n"
}

func itoa(i int) string {
	const digits = "0123456789"
	if i < 10 {
		return digits[i : i+1]
	}
	return itoa(i/10) + digits[i%10:i%10+1]
}

func TestUnreadableInput(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nowhere")
	if _, diags := config.Load(missing, config.Options{}); summaries(diags) != "Unreadable directory" {
		t.Errorf("%v", diags)
	}
	empty := t.TempDir()
	if _, diags := config.Load(empty, config.Options{}); summaries(diags) != "No configuration files" {
		t.Errorf("%v", diags)
	}
	loop := t.TempDir()
	if err := os.Symlink("b.mif.hcl", filepath.Join(loop, "a.mif.hcl")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("a.mif.hcl", filepath.Join(loop, "b.mif.hcl")); err != nil {
		t.Fatal(err)
	}
	_, diags := config.Load(loop, config.Options{})
	if len(diags) != 2 || !strings.Contains(diags[0].Detail, "leads back to itself") {
		t.Errorf("%v", diags)
	}
	large := dirOf(t, map[string]string{"main.mif.hcl": "# " + strings.Repeat("x", 9<<20)})
	if _, diags := config.Load(large, config.Options{}); len(diags) != 1 || !strings.Contains(diags[0].Detail, "limit of 8 MiB") {
		t.Errorf("%v", diags)
	}
	dir := dirOf(t, map[string]string{"main.mif.hcl/x": ""})
	if _, diags := config.Load(dir, config.Options{}); len(diags) != 1 || !strings.Contains(diags[0].Detail, "not a regular file") {
		t.Errorf("%v", diags)
	}
	_, diags = loadFiles(t, map[string]string{
		"main.mif.hcl":   "module \"a\" { source = \"./m\" }",
		"m/main.mif.hcl": "module \"b\" { source = \"../m\" }",
	}, config.Options{})
	if summaries(diags) != "Module calls itself" {
		t.Errorf("%v", diags)
	}
}
