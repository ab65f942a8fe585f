package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestComplaintsNameTestsThatExist reads docs/complaints.md: every row from 1 to 36 is there and
// names tests that exist in the package behind them, or says why none is needed.
func TestComplaintsNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	group := regexp.MustCompile("((?:`Test[A-Za-z0-9]+`(?:, )?)+) \\(([a-z0-9/]+)\\)")
	name := regexp.MustCompile("Test[A-Za-z0-9]+")
	next := 1
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err != nil {
			continue
		}
		if n != next {
			t.Errorf("row %d comes after row %d", n, next-1)
		}
		next++
		groups := group.FindAllStringSubmatch(cells[3], -1)
		if len(groups) == 0 && !strings.Contains(cells[3], "does not apply") {
			t.Errorf("row %d names no test", n)
		}
		for _, g := range groups {
			for _, test := range name.FindAllString(g[1], -1) {
				if !hasTest(t, g[2], test) {
					t.Errorf("row %d: there is no %s in %s", n, test, g[2])
				}
			}
		}
	}
	if next != 37 {
		t.Errorf("%d rows", next-1)
	}
}

func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t ") {
			return true
		}
	}
	return false
}
