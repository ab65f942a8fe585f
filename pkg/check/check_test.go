package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fault breaks the good configuration in one place: the first occurrence of each old is
// replaced by the new that follows it.
type fault struct {
	code, name string
	edits      []string
}

const extra = "containers = [{ name = \"main\", resources"

func faults() []fault {
	const parameters = `parameters = { requestTimeout = "20m" }`
	const use = `use "decode-filter" {}`
	return []fault{
		{"MIF001", "undeclared", []string{use, "use \"decode-filer\" {}\n    " + use}},
		{"MIF002", "declared-twice", []string{`plugin "decode-filter" {}`, "plugin \"decode-filter\" {}\n  plugin \"decode-filter\" {}"}},
		{"MIF003", "unknown-type", []string{`plugin "max-score-picker" {}`, `plugin "max-score-picer" { name = "max-score-picker" }`}},
		{"MIF004", "unknown-parameter", []string{parameters, `parameters = { requestTimout = "20m", requestTimeout = "20m" }`}},
		{"MIF004", "parameter-of-none", []string{`plugin "prefill-filter" {}`, `plugin "prefill-filter" { parameters = { role = "prefill" } }`}},
		{"MIF005", "duration-20x", []string{parameters, `parameters = { requestTimeout = "20x" }`}},
		{"MIF005", "duration-number", []string{parameters, `parameters = { requestTimeout = 20 }`}},
		{"MIF005", "number-as-text", []string{`plugin "pd-profile-handler" {}`, `plugin "pd-profile-handler" { parameters = { threshold = "many" } }`}},
		{"MIF005", "port", []string{`plugin "pd-profile-handler" {}`, `plugin "pd-profile-handler" { parameters = { primaryPort = 80000 } }`}},
		{"MIF005", "operator", []string{`plugin "prefill-filter" {}`, "plugin \"by-label-selector\" {\n    name       = \"prefill-filter\"\n    parameters = { matchExpressions = [{ key = \"role\", operator = \"Is\" }] }\n  }"}},
		{"MIF005", "either", []string{`plugin "prefill-filter" {}`, "plugin \"by-label\" {\n    name       = \"prefill-filter\"\n    parameters = { label = \"role\" }\n  }"}},
		{"MIF005", "missing-parameter", []string{`plugin "prefill-filter" {}`, "plugin \"by-label\" { name = \"prefill-filter\" }"}},
		{"MIF006", "weight", []string{"{ weight = 1 }", "{ weight = 0.5 }"}},
		{"MIF006", "staleness", []string{"replicas = 1\n", "replicas = 1\n    config = { saturationDetector = { metricsStalenessThreshold = 200 } }\n"}},
		{"MIF006", "feature-gate", []string{"replicas = 1\n", "replicas = 1\n    config = { featureGates = [\"dataLayr\"] }\n"}},
		{"MIF006", "unknown-field", []string{"replicas = 1\n", "replicas = 1\n    config = { saturationDetecter = {} }\n"}},
		{"MIF007", "two-handlers", []string{`plugin "prefill-filter" {}`, "plugin \"single-profile-handler\" {}\n  plugin \"prefill-filter\" {}"}},
		{"MIF007", "no-handler", []string{"  plugin \"pd-profile-handler\" {}\n", ""}},
		{"MIF007", "single-handler", []string{`plugin "pd-profile-handler" {}`, `plugin "single-profile-handler" {}`}},
		{"MIF008", "profile-name", []string{`scheduling_profile "decode"`, `scheduling_profile "decoding"`}},
		{"MIF009", "profile-twice", []string{`scheduling_profile "decode"`, "scheduling_profile \"decode\" {\n    use \"max-score-picker\" {}\n  }\n  scheduling_profile \"decode\""}},
		{"MIF010", "two-pickers", []string{`use "max-score-picker" {}`, "use \"max-score-picker\" {}\n    use \"max-score-picker\" {}"}},
		{"MIF011", "handler-used", []string{use, "use \"pd-profile-handler\" {}\n    " + use}},
		{"MIF012", "unused", []string{`plugin "decode-filter" {}`, "plugin \"decode-filter\" {}\n  plugin \"session-affinity-scorer\" {}"}},
		{"MIF013", "scorer-behind-picker", []string{"use \"active-request-scorer\" { weight = 1 }\n    use \"max-score-picker\" {}", "use \"max-score-picker\" {}\n    use \"active-request-scorer\" { weight = 1 }"}},
		{"MIF013", "no-picker", []string{"    use \"max-score-picker\" {}\n", ""}},
		{"MIF014", "weight-of-picker", []string{`use "max-score-picker" {}`, `use "max-score-picker" { weight = 2 }`}},
		{"MIF014", "weight-negative", []string{"{ weight = 1 }", "{ weight = -1 }"}},
		{"MIF015", "blind-scorer", []string{`plugin "decode-filter" {}`, "plugin \"decode-filter\" {}\n  plugin \"queue-scorer\" {}", use, use + "\n    use \"queue-scorer\" {}"}},
		{"MIF016", "prefix-scorer", []string{`plugin "decode-filter" {}`, "plugin \"decode-filter\" {}\n  plugin \"prefix-cache-scorer\" {}", use, use + "\n    use \"prefix-cache-scorer\" {}"}},
		{"MIF017", "default-timeout", []string{parameters, ""}},
		{"MIF018", "misspelt-value", []string{"replicas = 1\n", "replcas = 1\n    serviceMonitor = { enable = false }\n"}},
		{"MIF019", "no-gateway", []string{"gateway.mif.name", `""`}},
		{"MIF019", "wrong-gateway", []string{"gateway.mif.name", `"miff"`}},
		{"MIF020", "class", []string{"gateway.mif.class", `"kgateway"`}},
		{"MIF021", "match-labels", []string{"replicas = 1\n", "inferencePool = { matchLabels = { a = \"b\" } }\n"}},
		{"MIF022", "pool", []string{"heimdall.heimdall.pool", `"heimdal"`, "heimdall.heimdall.pool", `"heimdal"`}},
		{"MIF022", "pool-namespace", []string{"decode\" {\n  namespace     = namespace.bench.name", "decode\" {\n  namespace     = \"other\"", "role          = \"decode\"", "role          = \"both\"", "role          = \"prefill\"", "role          = \"both\""}},
		{"MIF023", "one-port", []string{"  target_ports       = range(8000, 8008)\n", ""}},
		{"MIF023", "nine-ports", []string{"range(8000, 8008)", "range(8000, 8009)"}},
		{"MIF024", "template", []string{"worker_template", "template"}},
		{"MIF025", "container", []string{extra, "containers = [{ name = \"engine\" }, { name = \"main\", resources"}},
		{"MIF026", "extra-args", []string{extra, "containers = [{ name = \"main\", env = [{ name = \"ISVC_EXTRA_ARGS\", value = \"--enforce-eager --max-num-seqs 2048 --max-model-len 8192\" }], resources"}},
		{"MIF027", "pull-secret", []string{"      imagePullSecrets = [{ name = ecr_credentials.moreh.secret_name }]\n", ""}},
		{"MIF028", "host-path", []string{`, type = "Directory"`, ""}},
		{"MIF029", "placeholder", []string{`"/models"`, `"/path/to/DeepSeek-R1"`}},
		{"MIF029", "placeholder-host", []string{"imagePullSecrets =", "nodeSelector = { \"kubernetes.io/hostname\" = \"<clientHostname>\" }\n      imagePullSecrets ="}},
		{"MIF030", "no-hca", []string{`, resources = { limits = { "mellanox/hca" = "1" } }`, ""}},
		{"MIF031", "no-prefill", []string{"role          = \"prefill\"", "role          = \"decode\""}},
		{"MIF032", "too-long", []string{"input_tokens  = 2000", "input_tokens  = 7000"}},
		{"MIF033", "too-many", []string{"max_concurrency = 10800", "max_concurrency = 20000"}},
		{"MIF034", "long-name", []string{"role          = \"decode\"", "name          = \"deepseek-r1-671b-decode-eight-ranks-eight-experts-mi300x\"\n  role          = \"decode\""}},
		{"MIF035", "two-writers", []string{"name = \"bench\"\n", "name = \"bench\"\n  labels = { mif = \"enabled\" }\n"}},
		{"MIF036", "nobody-brings", []string{`"aws"`, `"replicated"`}},
		{"MIF037", "unweighted", []string{"use \"active-request-scorer\" { weight = 1 }\n    use \"max-score-picker\" {}", "use \"max-score-picker\" {}\n    use \"active-request-scorer\" {}"}},
	}
}

// TestChecks breaks a good configuration in one place at a time: the check finds it, no other
// does, and the golden file shows what the author reads.
func TestChecks(t *testing.T) {
	good, err := os.ReadFile("testdata/good.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, f := range faults() {
		covered[f.code] = true
		t.Run(f.code+"-"+f.name, func(t *testing.T) {
			src := string(good)
			for i := 0; i < len(f.edits); i += 2 {
				if !strings.Contains(src, f.edits[i]) {
					t.Fatalf("%q is not in the good configuration", f.edits[i])
				}
				src = strings.Replace(src, f.edits[i], f.edits[i+1], 1)
			}
			c, diags := load(t, src)
			for _, d := range diags {
				if code, _ := hcl.DiagnosticExtra[check.Code](d); string(code) != f.code {
					t.Errorf("another check speaks: %s: %s", d.Summary, d.Detail)
				}
			}
			golden(t, f.code+"-"+f.name+".txt", render(t, c, diags))
		})
	}
	for _, k := range check.All() {
		if k.Run != nil && !covered[k.Code] {
			t.Errorf("%s has no case", k.Code)
		}
	}
}

func TestGoodConfigurationHasNoFindings(t *testing.T) {
	good, err := os.ReadFile("testdata/good.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if c, diags := load(t, string(good)); len(diags) > 0 {
		t.Error(render(t, c, diags))
	}
}

func TestDisabledChecks(t *testing.T) {
	src := `mifbench { disabled_checks = ["MIF028", "MIF999"] }
manifest "pod" {
  object = { apiVersion = "v1", kind = "Pod", metadata = { name = "p" }, spec = { volumes = [{ name = "v", hostPath = { path = "/x" } }] } }
}
`
	_, diags := load(t, src)
	if len(diags) != 1 || diags[0].Summary != "Unknown check" || !strings.Contains(diags[0].Detail, "MIF999") {
		t.Errorf("%v", diags)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	src := `variable "password" {
  sensitive = true
  default   = "abc<user>def"
}
manifest "pod" {
  object = { apiVersion = "v1", kind = "Pod", metadata = { name = "p" }, spec = { containers = [{ name = "c", env = [{ name = "P", value = var.password }] }] } }
}
`
	c, diags := load(t, src)
	if text := render(t, c, diags); len(diags) == 0 || strings.Contains(diags[0].Detail, "abc<user>def") {
		t.Error(text)
	}
}

// TestTable: codes are unique and in order, and every sentence is one.
func TestTable(t *testing.T) {
	last := ""
	for _, k := range check.All() {
		if k.Code <= last || len(k.Code) != 6 || !strings.HasPrefix(k.Code, "MIF") {
			t.Errorf("code %s after %s", k.Code, last)
		}
		last = k.Code
		for _, s := range []string{k.Why, k.Fix} {
			if s == "" || !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %q is not a sentence", k.Code, s)
			}
		}
	}
}

func load(t *testing.T, src string) (*config.Config, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.mif.hcl"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	c, diags := config.Load(".", config.Options{Kinds: kinds.All()})
	if diags.HasErrors() {
		t.Fatal(render(t, c, diags))
	}
	return c, check.Run(c)
}

func render(t *testing.T, c *config.Config, diags hcl.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	if err := diagnostic.WriteText(&b, c.Files, diags, diagnostic.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// home is the directory of the package, remembered before tests change directories.
var home = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(home, "testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
