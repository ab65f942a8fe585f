package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestDiagnostics loads each bad configuration of testdata/diagnostics (with the files of
// the folder of the same name beside it) and compares what a user is told. A line
// "# var: name=value" stands for a -var option.
func TestDiagnostics(t *testing.T) {
	files, err := filepath.Glob("testdata/diagnostics/*.mif.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".mif.hcl")
		t.Run(name, func(t *testing.T) {
			golden, err := filepath.Abs("testdata/diagnostics/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, golden, told(t, file, "testdata/diagnostics/"+name))
		})
	}
}

func told(t *testing.T, file, extra string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.mif.hcl"), src, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(extra); err == nil {
		if err := os.CopyFS(dir, os.DirFS(extra)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var vars []config.VarArg
	for _, m := range regexp.MustCompile(`(?m)^# var: (.*)$`).FindAllStringSubmatch(string(src), -1) {
		vars = append(vars, config.VarArg{Assignment: m[1]})
	}
	c, diags := config.Load(".", config.Options{Kinds: kinds.All(), Vars: vars})
	if len(diags) == 0 {
		t.Error("no diagnostics")
	}
	var b strings.Builder
	if err := diagnostic.WriteText(&b, c.Files, diags, diagnostic.Style{}); err != nil {
		t.Fatal(err)
	}
	js, err := diagnostic.JSON(c.Files, diags)
	if err != nil {
		t.Fatal(err)
	}
	if text := b.String() + string(js); !strings.Contains(file, "var-file") && strings.Contains(strings.ReplaceAll(text, "# var: password=hunter2", ""), "hunter2") {
		t.Error("a sensitive value is shown")
	}
	return b.String()
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got (go test -update rewrites):\n%s", diff)
	}
}
