// Package real tests the product against the real parts of a stack: istiod, Envoy and the
// endpoint picker of llm-d. Only the engines and the kubelet are played. It runs inside
// enter.sh, with what build.sh makes: make e2e-real.
package real

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/internal/clustertest"
)

// folderVariable names the variable that holds the folder with what build.sh makes.
const folderVariable = "MIFBENCH_REAL"

const namespace = "deepseek-r1-benchmark"

// stack is a user's folder and cluster.
type stack struct {
	t   *testing.T
	dir string
	env []string
	bin string // mifbench
}

// TestRealParts goes the whole way once: the control plane of the mesh, the published stack,
// its requests, an empty plan, and nothing left.
func TestRealParts(t *testing.T) {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		t.Skip("needs the real parts: make e2e-real")
	}
	bin := binary(t)
	local := start(t, folder, bin)
	env := environment(local)
	c := connect(t, local.Kubeconfig, env)
	t.Cleanup(func() {
		if t.Failed() {
			c.show(t)
		}
	})
	mesh := &stack{t: t, dir: copied(t, "testdata/istio", nil), env: append(env, "MIFBENCH_VAR_charts="+filepath.Join(folder, "charts")), bin: bin}
	mesh.run(0, "apply", "--auto-approve")
	published := &stack{t: t, dir: copied(t, "../../examples/rehearsal", deviations()), bin: bin,
		env: append(env, "MIFBENCH_VAR_dataset_root="+texts(t))}
	published.run(2, "plan", "--detailed-exitcode")
	t.Log(tail(published.run(0, "apply", "--auto-approve")))
	published.run(0, "plan", "--detailed-exitcode")
	t.Log("the second plan is empty")
	t.Run("status", func(t *testing.T) { checkStatus(t, c) })
	t.Run("requests", func(t *testing.T) { checkRequests(t, c) })
	t.Run("run", func(t *testing.T) {
		t.Log(tail(published.run(0, "run", "smoke")))
	})
	published.run(0, "plan", "--detailed-exitcode")
	t.Log(tail(published.run(0, "destroy", "--auto-approve")))
	mesh.run(0, "destroy", "--auto-approve")
}

// TestStandInsSayTheSame holds the stand-ins to what the real parts were seen to say.
func TestStandInsSayTheSame(t *testing.T) {
	bin := binary(t)
	local := clustertest.Start(t, clustertest.Engine(bin), clustertest.Speedup(20), clustertest.StreamScale(75))
	env := environment(local)
	published := &stack{t: t, dir: copied(t, "../../examples/rehearsal", nil), bin: bin, env: append(env, "MIFBENCH_VAR_dataset_root=/")}
	published.run(0, "apply", "--auto-approve")
	checkStatus(t, connect(t, local.Kubeconfig, env))
	published.run(0, "destroy", "--auto-approve")
}

func binary(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../bin/mifbench")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Skip("bin/mifbench is missing: make build")
	}
	return bin
}

func environment(c *clustertest.Cluster) []string {
	env := os.Environ()
	for k, v := range c.Env {
		env = append(env, k+"="+v)
	}
	return env
}

// start starts the local control plane with the real parts in the place of its stand-ins for
// Istio and heimdall.
func start(t *testing.T, folder, bin string) *clustertest.Cluster {
	t.Helper()
	container, err := filepath.Abs("container.sh")
	if err != nil {
		t.Fatal(err)
	}
	image := func(name, program string) clustertest.Option {
		return clustertest.Runtime(name, strings.Join([]string{container, filepath.Join(folder, name), "/usr/local/bin/" + program}, " "))
	}
	return clustertest.Start(t, clustertest.NominalAddresses(),
		clustertest.Engine(bin), clustertest.Speedup(20), clustertest.StreamScale(75),
		clustertest.StandIns("presets", "odin", "lws", "replicator", "ecr", "charts"),
		image("pilot", "pilot-discovery"), image("proxyv2", "pilot-agent"), image("heimdall", "epp"))
}

// edit is a change of text.
type edit struct{ from, to string }

// deviations are what llm-d's scheduler needs beyond the published stack: it reads the role from
// a label of its own, and a plugin of its own tells decode where to prefill. The scenario is
// small.
func deviations() []edit {
	edits := []edit{
		{`disabled_checks = ["MIF027", "MIF028"]`, `disabled_checks = ["MIF003", "MIF027", "MIF028"]`},
		{`plugin "prefill-filter" {}`, "plugin \"prefill-header-handler\" {}\n  plugin \"prefill-filter\" {}"},
		{`scenario "published" {`, smoke + `scenario "published" {`},
	}
	for _, role := range []string{"decode", "prefill"} {
		body := `  worker_template = {
    spec = {
      containers = [{
        name         = "main"
        env          = concat(local.engine_env, local.prefix_caching_env.` + role + `)`
		labels := "  worker_template = {\n    metadata = { labels = { \"llm-d.ai/role\" = \"" + role + "\" } }"
		edits = append(edits, edit{body, strings.Replace(body, "  worker_template = {", labels, 1)})
	}
	return edits
}

const smoke = `scenario "smoke" {
  target        = gateway.mif
  model         = "deepseek-ai/DeepSeek-R1"
  dataset       = dataset.sharegpt
  input_tokens  = 512
  output_tokens = 128
  ignore_eos    = true

  load {
    requests        = 400
    max_concurrency = 80
  }
  client {
    mode = "local"
  }
}

`

// copied copies the configuration of a folder, edited.
func copied(t *testing.T, from string, edits []edit) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, "*.mif.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration in %s: %v", from, err)
	}
	dir, done := t.TempDir(), map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edits {
			if bytes.Contains(text, []byte(e.from)) {
				done[e.from] = true
				text = bytes.ReplaceAll(text, []byte(e.from), []byte(e.to))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edits {
		if !done[e.from] {
			t.Errorf("%s does not say %q", from, e.from)
		}
	}
	return dir
}

func texts(t *testing.T) string {
	t.Helper()
	return os.Getenv(folderVariable) + "/texts"
}

// run runs mifbench and expects an exit code.
func (s *stack) run(code int, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bin, append([]string{"--chdir", s.dir}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		s.t.Fatal(err)
	}
	if got != code {
		s.t.Fatalf("mifbench %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// TestDeviations: the edits fit the example as it is.
func TestDeviations(t *testing.T) { copied(t, "../../examples/rehearsal", deviations()) }
