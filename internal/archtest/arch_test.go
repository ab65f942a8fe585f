package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/mifbench/mifbench/"

// rules is the import table: a package may import the listed packages of the project and no
// others. "x/..." stands for a package and everything below it.
var rules = map[string][]string{
	"cmd/mifbench":          {"internal/cli"},
	"internal/archtest":     {},
	"internal/clustertest":  {},
	"internal/faultproxy":   {},
	"internal/dag":          {},
	"internal/runner":       {},
	"internal/cli":          {"examples", "internal/...", "pkg/..."},
	"internal/cli/view":     {"pkg/check", "pkg/plan", "pkg/state", "pkg/deploy", "pkg/resource", "pkg/bench", "pkg/bench/metrics"},
	"pkg/resource":          {},
	"pkg/resource/kinds":    {"pkg/resource"},
	"pkg/config":            {"pkg/resource", "internal/dag", "pkg/config/..."},
	"pkg/config/block":      {"pkg/config/diagnostic"},
	"pkg/config/diagnostic": {},
	"pkg/config/lang":       {"pkg/config/diagnostic"},
	"pkg/check":             {"pkg/config/...", "pkg/config", "pkg/resource", "pkg/resource/kinds"},
	"pkg/state":             {"pkg/resource"},
	"pkg/state/kubestate":   {"pkg/state", "pkg/resource"},
	"pkg/plan":              {"pkg/resource", "pkg/state"},
	"pkg/deploy":            {"pkg/plan", "pkg/state", "pkg/resource", "internal/dag"},
	"pkg/deploy/deploytest": {"pkg/deploy", "pkg/plan", "pkg/state", "pkg/resource"},
	"pkg/deploy/kube":       {"pkg/deploy", "pkg/plan", "pkg/state", "pkg/resource"},
	"pkg/deploy/helm":       {"pkg/deploy", "pkg/plan", "pkg/state", "pkg/resource"},
	"pkg/deploy/ecr":        {"pkg/deploy", "pkg/plan", "pkg/state", "pkg/resource"},
	"pkg/bench":             {"pkg/bench/arrival", "pkg/bench/client", "pkg/bench/client/lag", "pkg/bench/dataset", "pkg/bench/record"},
	"pkg/bench/arrival":     {},
	"pkg/bench/benchtest":   {},
	"pkg/bench/client/lag":  {},
	"pkg/bench/calibrate":   {"pkg/bench", "pkg/bench/arrival", "pkg/bench/client", "pkg/bench/client/lag", "pkg/bench/dataset", "pkg/bench/record"},
	"pkg/bench/client":      {"pkg/bench/client/lag", "pkg/bench/record"},
	"pkg/bench/dataset":     {"pkg/bench/tokenizer"},
	"pkg/bench/metrics":     {"pkg/bench/record"},
	"pkg/bench/record":      {},
	"pkg/bench/report":      {"pkg/bench/metrics", "pkg/bench/record"},
	"pkg/bench/tokenizer":   {},
	"pkg/sim":               {},
	"examples":              {},
	"test/e2e":              {"internal/clustertest", "internal/faultproxy"},
	"test/provision":        {},
	"test/peers":            {"pkg/bench", "pkg/bench/arrival", "pkg/bench/client", "pkg/bench/dataset", "pkg/bench/record"},
	"test/real":             {"internal/clustertest"},
	"test/texts":            {},
	"test/vllm":             {},
}

// fences says which packages may import a third-party module directly.
var fences = map[string][]string{
	"k8s.io/":                  {"pkg/deploy/kube", "pkg/deploy/helm", "pkg/deploy/ecr", "pkg/state/kubestate", "internal/cli"},
	"helm.sh/helm":             {"pkg/deploy/helm"},
	"github.com/aws/":          {"pkg/deploy/ecr"},
	"github.com/hashicorp/hcl": {"pkg/config", "pkg/config/...", "pkg/resource", "pkg/resource/kinds", "pkg/check", "internal/cli", "internal/cli/view"},
	"github.com/spf13/cobra":   {"internal/cli"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportTable(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := rules[name]
		if !known {
			t.Errorf("%s has no row in the import table", name)
			continue
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module); ok && !matches(allowed, own) {
				t.Errorf("%s must not import %s", name, own)
			}
			for prefix, who := range fences {
				if strings.HasPrefix(imp, prefix) && !matches(who, name) {
					t.Errorf("%s must not import %s", name, imp)
				}
			}
		}
	}
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == name || strings.HasSuffix(p, "/...") && strings.HasPrefix(name, strings.TrimSuffix(p, "...")) {
			return true
		}
	}
	return false
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}
