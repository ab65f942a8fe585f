package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/check"
)

func TestChecks(t *testing.T) {
	var b strings.Builder
	err := view.Style{Out: &b}.Checks([]check.Result{
		{Code: "MIF001", Title: "Plugin", Status: check.Fine},
		{Code: "MIF028", Title: "hostPath without a type", Status: check.Doubtful, Diagnostics: hcl.Diagnostics{{}, {}}},
		{Code: "MIF029", Title: "Placeholder", Status: check.Off},
		{Code: "MIF108", About: "nodes", Cluster: true, Status: check.Fine, Seen: strings.Fields("a b c d e f g")},
		{Code: "MIF109", About: "room", Cluster: true, Status: check.Faulty, Seen: []string{"not this"}, Diagnostics: hcl.Diagnostics{{}}},
		{Code: "MIF112", About: "secrets", Cluster: true, Status: check.Partly, Seen: []string{"one"}, Skipped: []string{"no right to read another"}},
		{Code: "MIF119", About: "controllers", Cluster: true, Status: check.Skipped, Skipped: []string{"istiod", "odin"}},
		{Code: "MIF120", About: "claims", Cluster: true, Status: check.Idle},
		{Code: "MIF121", About: "others", Cluster: true, Status: check.Off},
	}, []string{"Cluster: x"})
	if err != nil {
		t.Fatal(err)
	}
	want := `Cluster: x

warning  MIF028  hostPath without a type: 2 findings, see above
ok       1 offline check
ok       MIF108  nodes: a; b; c; d; e; and 2 more
error    MIF109  room: 1 finding, see above
partly   MIF112  secrets: one
                 skipped: no right to read another
skipped  MIF119  controllers
                 skipped: istiod
                 skipped: odin
-        MIF120  claims: nothing to check
-        MIF121  others: switched off

9 checks: 1 error, 1 warning, 1 skipped, 1 partly, 2 ok, 1 nothing to check, 2 switched off.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestChecksOfAClusterThatWasNotReached(t *testing.T) {
	var b strings.Builder
	err := view.Style{Out: &b}.Checks([]check.Result{
		{Code: "MIF001", Status: check.Fine}, {Code: "MIF002", Status: check.Fine},
		{Code: "MIF108", Cluster: true, Status: check.Skipped, Skipped: []string{"it was not reached"}},
		{Code: "MIF109", Cluster: true, Status: check.Skipped, Skipped: []string{"it was not reached"}},
	}, []string{"Cluster: not reached"})
	if err != nil {
		t.Fatal(err)
	}
	want := "Cluster: not reached\n\nok       2 offline checks\nskipped  2 checks of the cluster: it was not reached\n\n4 checks: 2 skipped, 2 ok.\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
