package provision

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// benchVariable, set to a number of rounds, turns the measurement on.
const benchVariable = "MIFBENCH_BENCH_PROVISION"

// step is what each side does for one row of the table.
type step struct {
	name             string
	mifbench, script func(s *side, name string)
	// patient is what scripts do that wait for as much as mifbench does; nil when script does already.
	patient func(s *side, name string)
}

func steps(mif, kubectl, helm string) []step {
	apply := func(s *side, name string) {
		s.run(kubectl, "apply", "--server-side", "-f", "1-namespace.yaml")
		s.run(kubectl, "apply", "--server-side", "-f", "2-gateway.yaml")
		s.run(kubectl, "wait", "-n", name, "--for=condition=Programmed", "--timeout=120s", "gateway/mif")
		s.run(helm, "upgrade", "--install", "heimdall", "heimdall", "--repo", s.repo, "--version", "v0.7.1", "-n", name, "-f", "heimdall.values", "--wait", "--timeout", "120s")
		s.run(kubectl, "apply", "--server-side", "-f", "3-services.yaml")
		s.run(kubectl, "wait", "-n", name, "--for=condition=Ready", "--timeout=300s", "inferenceservice", "--all")
	}
	destroy := func(cascade string) func(*side, string) {
		return func(s *side, name string) {
			s.run(kubectl, "delete", "-f", "3-services.yaml", "--wait", "--timeout=300s", "--cascade="+cascade)
			s.run(helm, "uninstall", "heimdall", "-n", name, "--wait", "--timeout", "120s", "--cascade", cascade)
			s.run(kubectl, "delete", "-f", "2-gateway.yaml", "--wait", "--timeout=120s", "--cascade="+cascade)
			s.run(kubectl, "delete", "-f", "1-namespace.yaml", "--wait", "--timeout=120s")
		}
	}
	ours := func(args ...string) func(*side, string) {
		return func(s *side, _ string) { s.run(mif, args...) }
	}
	return []step{
		{"first apply", ours("apply", "--auto-approve"), func(s *side, name string) { s.export("low"); apply(s, name) }, nil},
		{"plan, nothing to do", ours("plan", "--detailed-exitcode"), func(s *side, name string) {
			s.run(kubectl, "diff", "--server-side", "-f", ".")
			s.run(helm, "upgrade", "--install", "--dry-run=server", "heimdall", "heimdall", "--repo", s.repo, "--version", "v0.7.1", "-n", name, "-f", "heimdall.values")
		}, nil},
		{"apply, nothing to do", ours("apply", "--auto-approve"), apply, nil},
		{"apply, one field changed", ours("apply", "--auto-approve", "--var", "level=high"), func(s *side, name string) { s.export("high"); apply(s, name) }, nil},
		{"destroy", ours("destroy", "--auto-approve"), destroy("background"), destroy("foreground")},
	}
}

// who is one of the sides: mifbench, scripts as people write them, scripts that wait for as much.
type who string

const (
	mifbench who = "mifbench"
	scripts  who = "scripts"
	patient  who = "patient"
)

// do runs the step as the side does it, and names the series that the figure belongs to.
func (st step) do(w who, s *side, name string) who {
	switch {
	case w == mifbench:
		st.mifbench(s, name)
	case w == patient && st.patient != nil:
		st.patient(s, name)
		return patient
	default:
		st.script(s, name)
		return scripts
	}
	return mifbench
}

// TestBenchProvision measures the sides in turn, round by round, and prints the medians.
func TestBenchProvision(t *testing.T) {
	rounds := 0
	if _, err := fmt.Sscan(os.Getenv(benchVariable), &rounds); err != nil || rounds < 1 {
		t.Skip("a measurement: make bench-provision")
	}
	table := steps(tool(t, "mifbench", "build"), tool(t, "kubectl", "kubectl-build"), tool(t, "helm", "helm-build"))
	figures := map[who][][]measured{mifbench: make([][]measured, len(table)), scripts: make([][]measured, len(table)), patient: make([][]measured, len(table))}
	sides := []who{mifbench, scripts, patient}
	for round := range rounds {
		for turn := range sides {
			w := sides[(turn+round)%len(sides)] // who begins changes
			name := fmt.Sprintf("bench-%s-%d", w, round)
			s := newSide(t, name)
			for i, st := range table {
				var series who
				m := s.measure(func() { series = st.do(w, s, name) })
				figures[series][i] = append(figures[series][i], m)
			}
		}
	}
	fmt.Print(report(table, figures, rounds))
}

func report(table []step, figures map[who][][]measured, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nBase: helm upgrade --install, kubectl apply --server-side, kubectl wait (helm and kubectl as built here); median of %d round(s)\n\n", rounds)
	b.WriteString("| step | scripts | mifbench | time ratio | requests scripts | requests mifbench | requests ratio |\n|---|---|---|---|---|---|---|\n")
	for i, st := range table {
		own := median(figures[mifbench][i])
		for _, w := range []who{scripts, patient} {
			if len(figures[w][i]) == 0 {
				continue
			}
			name, base := st.name, median(figures[w][i])
			if w == patient {
				name += "; the scripts wait for pods, too (--cascade=foreground)"
			}
			fmt.Fprintf(&b, "| %s | %.2f s | %.2f s | %.2f | %d | %d | %.2f |\n", name, base.took.Seconds(), own.took.Seconds(),
				own.took.Seconds()/base.took.Seconds(), base.total(), own.total(), float64(own.total())/float64(base.total()))
		}
	}
	b.WriteString("\n| step | side |")
	for _, c := range classes() {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(classes())) + "\n")
	for i, st := range table {
		for _, w := range []who{scripts, mifbench} {
			fmt.Fprintf(&b, "| %s | %s |", st.name, w)
			for _, c := range classes() {
				fmt.Fprintf(&b, " %d |", median(figures[w][i]).requests[c])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// median is the measurement of median time.
func median(list []measured) measured {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b measured) int { return int(a.took - b.took) })
	return sorted[(len(sorted)-1)/2]
}

// TestANoOpPlanCostsOneReadAndOneDryRunAnObject holds the price of a plan when there is nothing to do: no
// object is asked for twice by the planning, in either way, and nothing is written.
func TestANoOpPlanCostsOneReadAndOneDryRunAnObject(t *testing.T) {
	mif := tool(t, "mifbench", "build")
	s := newSide(t, "bench-price")
	s.run(mif, "apply", "--auto-approve")
	defer s.run(mif, "destroy", "--auto-approve")
	m := s.measure(func() { s.run(mif, "plan", "--detailed-exitcode") })
	t.Logf("%v in %s", m.requests, m.took)
	if m.requests[dryRun] == 0 || m.requests[write] > 0 || m.requests[watch] > 0 {
		t.Errorf("%v", m.requests)
	}
	// The checks of the cluster look at the namespace and its secrets themselves.
	checks := []string{"list GET /api/v1/namespaces/bench-price/secrets", "read GET /api/v1/namespaces/bench-price"}
	for path, n := range s.requests.paths {
		if slices.Contains(checks, path) {
			n--
		}
		if n > 1 && !strings.HasPrefix(path, string(discovery)) {
			t.Errorf("%d × %s", n, path)
		}
	}
}

// TestADestroyAsksOnceForWhatItNeeds holds the price of a destroy: an object is read for the plan and at most
// once more when it goes (the server's answers and a watch tell the rest), a kind is listed once before for what
// is not ours and once after for what is left.
func TestADestroyAsksOnceForWhatItNeeds(t *testing.T) {
	mif := tool(t, "mifbench", "build")
	s := newSide(t, "bench-price-destroy")
	s.run(mif, "apply", "--auto-approve")
	m := s.measure(func() { s.run(mif, "destroy", "--auto-approve") })
	t.Logf("%v in %s", m.requests, m.took)
	records := "list GET /api/v1/namespaces/bench-price-destroy/secrets" // Helm's, also by label
	for path, n := range s.requests.paths {
		what, _, _ := strings.Cut(path, " ")
		limit := map[class]int{read: 3, list: 1, watch: 3, write: 2, discovery: 3}[class(what)] // one of them after a conflict or a cut
		if n > limit && path != records {
			t.Errorf("%d × %s", n, path)
		}
	}
	if n := m.total(); n > 170 { // 274 when each object was polled and every kind of the cluster listed
		t.Errorf("%d requests", n)
	}
}
