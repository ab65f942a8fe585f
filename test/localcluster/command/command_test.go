package command

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestMistakesOnTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"", "usage:", 2},
		{"start", `no command "start"`, 2},
		{"up --nodes x", "invalid value", 2},
		{"up --nodes 1000", "--nodes", 2},
		{"up --crds some", "neither all nor none", 2},
		{"up --standins odin,foo", `there is no "foo"`, 2},
		{"up --engine /no/such/file", "--engine", 2},
		{"up --stream-scale 0.5", "--stream-scale", 2},
		{"up here", `unexpected argument "here"`, 2},
		{"down --name Bad_Name", "--name", 2},
	} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}

func TestDownWithoutCluster(t *testing.T) {
	var out, errs bytes.Buffer
	dir := filepath.Join(t.TempDir(), "none")
	if code := Main(t.Context(), []string{"down", "--dir", dir}, nil, &out, &errs); code != 0 || !strings.Contains(out.String(), "nothing to end") {
		t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
	}
	if code := Main(t.Context(), []string{"down", "--dir", t.TempDir()}, nil, &out, &errs); code != 1 || !strings.Contains(errs.String(), "not the folder of a cluster") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	if code := Main(t.Context(), []string{"status", "--dir", dir}, nil, &out, &errs); code != 1 {
		t.Errorf("status: exit code %d", code)
	}
}
