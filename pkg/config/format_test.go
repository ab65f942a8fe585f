package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

func diagnosticText(t testing.TB, c *config.Config, diags hcl.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	if err := diagnostic.WriteText(&b, c.Files, diags, diagnostic.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormat(t *testing.T) {
	got, diags := config.Format([]byte("\ufeff# head\r\nservice   \"a\"{\r\nname=\"a\" # why\r\n  replicas   = 2\r\n// more\r\n}\r\n\r\n\r\n"), "x")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := "# head\nservice \"a\" {\n  name     = \"a\" # why\n  replicas = 2\n  // more\n}\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if _, diags := config.Format([]byte("a {"), "x"); summaries(diags) != "Unclosed brace" {
		t.Errorf("%v", diags)
	}
}

func TestExamplesAreFormatted(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.mif.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, diags := config.Format(src, file)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if diff := cmp.Diff(string(src), string(got)); diff != "" {
			t.Errorf("%s is not formatted:\n%s", file, diff)
		}
	}
}
