package provision

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/internal/clustertest"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

var cluster = clustertest.NewShared(clustertest.Speedup(20))

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// side is one of the two that are compared: a directory of files and an environment.
type side struct {
	t   *testing.T
	dir string
	env []string
	// requests counts what the side sends.
	requests *counter
	repo     string
}

func tool(t *testing.T, name, target string) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if found, err := exec.LookPath(name); err == nil && name != "mifbench" {
			return found
		}
		if os.Getenv(clustertest.RequireVariable) == "1" {
			t.Fatalf("%v; make %s", err, target)
		}
		t.Skipf("bin/%s is missing: make %s", name, target)
	}
	return path
}

// newSide writes the stack of one side and, for scripts, the same objects as plain files.
func newSide(t *testing.T, name string) *side {
	t.Helper()
	c := cluster.Get(t)
	s := &side{t: t, dir: t.TempDir(), repo: c.Env["MIFBENCH_VAR_chart_repository"]}
	var kubeconfig string
	s.requests, kubeconfig = behind(t, c.Kubeconfig, c.Context)
	home := t.TempDir()
	s.env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_CACHE_HOME="+home, "HELM_DATA_HOME="+home)
	for k, v := range c.Env {
		s.env = append(s.env, k+"="+v)
	}
	s.env = append(s.env, "KUBECONFIG="+kubeconfig)
	text, err := os.ReadFile("testdata/stack.mif.hcl")
	if err != nil {
		t.Fatal(err)
	}
	s.write("stack.mif.hcl", strings.ReplaceAll(string(text), "NAME", name))
	return s
}

func (s *side) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// export writes the objects that the configuration stands for, for kubectl and helm.
func (s *side) export(level string) {
	s.t.Helper()
	c, diags := config.Load(s.dir, config.Options{Kinds: kinds.All(), Version: "0.1.0", Vars: []config.VarArg{
		{Assignment: "chart_repository=" + s.repo}, {Assignment: "level=" + level},
	}})
	if diags.HasErrors() {
		s.t.Fatal(diags)
	}
	files := map[string]*bytes.Buffer{}
	for _, o := range c.Objects() {
		name, doc := fileOf(o), any(whole(o))
		if o.ID.Driver == resource.DriverHelm {
			doc = o.Spec["values"]
		}
		text, err := yaml.Marshal(doc)
		if err != nil {
			s.t.Fatal(err)
		}
		if files[name] == nil {
			files[name] = &bytes.Buffer{}
		} else {
			files[name].WriteString("---\n")
		}
		files[name].Write(text)
	}
	for name, b := range files {
		s.write(name, b.String())
	}
}

// fileOf sorts the objects into the files that a script would apply one after the other.
func fileOf(o resource.Object) string {
	switch {
	case o.ID.Driver == resource.DriverHelm:
		return "heimdall.values"
	case o.ID.Kind == "Namespace":
		return "1-namespace.yaml"
	case o.ID.Kind == "InferenceService":
		return "3-services.yaml"
	}
	return "2-gateway.yaml"
}

func whole(o resource.Object) map[string]any {
	doc := o.Spec
	doc["apiVersion"], doc["kind"] = o.ID.APIVersion, o.ID.Kind
	meta, _ := doc["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		doc["metadata"] = meta
	}
	meta["name"] = o.ID.Name
	if o.ID.Namespace != "" {
		meta["namespace"] = o.ID.Namespace
	}
	return doc
}

// run runs one command in the side's directory; its failure ends the test.
func (s *side) run(path string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s %s: %v\n%s", filepath.Base(path), strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// measured is one step of one side.
type measured struct {
	took     time.Duration
	requests map[class]int
}

func (m measured) total() int {
	n := 0
	for _, v := range m.requests {
		n += v
	}
	return n
}

func (s *side) measure(step func()) measured {
	s.requests.reset()
	start := time.Now()
	step()
	return measured{time.Since(start), s.requests.counts()}
}
