package bench_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every row of docs/benchmark-complaints.md names tests, and they exist.
func TestComplaintsHaveTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchmark-complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	there := testNames(t, "../../pkg", "../../internal")
	row, name := regexp.MustCompile(`^\| (\d+) \|`), regexp.MustCompile("`(Test\\w+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if rows++; m[1] != strconv.Itoa(rows) {
			t.Errorf("row %s follows row %d", m[1], rows-1)
		}
		named := name.FindAllStringSubmatch(line, -1)
		ours := false
		for _, n := range named {
			ours = ours || strings.HasPrefix(n[1], "TestRow")
			if !there[n[1]] {
				t.Errorf("row %s: there is no %s", m[1], n[1])
			}
		}
		if !ours {
			t.Errorf("row %s has no test named after it", m[1])
		}
	}
	if rows != 29 {
		t.Errorf("%d rows, want 29", rows)
	}
}

// testNames are the test functions below some directories.
func testNames(t *testing.T, dirs ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
