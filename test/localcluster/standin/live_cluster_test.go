package standin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// patience bounds every wait; the machine may be compiling something.
const patience = 4 * time.Minute

// live is a cluster with all stand-ins and engines that are only nominal.
type live struct {
	*reconcile.Cluster
	env map[string]string
}

// startLive runs the control plane's binary until the test ends, or skips.
func startLive(t *testing.T) *live {
	t.Helper()
	bin := os.Getenv("MIFBENCH_LOCALCLUSTER")
	if bin == "" {
		bin = "../../../bin/localcluster"
	}
	if _, err := os.Stat(bin); err != nil {
		if os.Getenv("MIFBENCH_REQUIRE_CLUSTER") == "1" {
			t.Fatal(err)
		}
		t.Skipf("the local control plane is not built: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "cluster")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "up", "--foreground", "--die-with-stdin", "--dir", dir)
	cmd.Stdout, cmd.Stderr = log, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := errors.Join(stdin.Close(), cmd.Wait(), log.Close())
		if err != nil {
			t.Errorf("control plane: %v", err)
		}
	})
	eventually(t, "the control plane is ready", func() (bool, string) {
		_, err := os.Stat(filepath.Join(dir, "ready"))
		return err == nil, "no ready file"
	})
	env := readEnv(t, filepath.Join(dir, "env"))
	cfg, err := clientcmd.BuildConfigFromFlags("", env["KUBECONFIG"])
	if err != nil {
		t.Fatal(err)
	}
	c, err := reconcile.New(cfg, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return &live{c, env}
}

// readEnv reads lines of the form: export NAME='value'.
func readEnv(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(s.Text(), "export "), "=")
		env[name] = strings.Trim(value, "'")
	}
	return env
}

// eventually waits until ok; the note of the last attempt explains a failure.
func eventually(t *testing.T, what string, ok func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		yes, note := ok()
		if yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited until %s: %s", what, note)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// apply writes an object given in YAML; dry says to only ask whether it could be.
func (l *live) apply(t *testing.T, k reconcile.Kind, namespace, text string, dry bool) error {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetGroupVersionKind(k.GVK())
	o := metav1.ApplyOptions{FieldManager: "test", Force: true}
	if dry {
		o.DryRun = []string{metav1.DryRunAll}
	}
	_, err = l.Resource(k, namespace).Apply(t.Context(), u.GetName(), u, o)
	return err
}

func (l *live) mustApply(t *testing.T, k reconcile.Kind, namespace, text string) {
	t.Helper()
	if err := l.apply(t, k, namespace, text, false); err != nil {
		t.Fatal(err)
	}
}

// get returns an object, nil when it cannot be had.
func (l *live) get(k reconcile.Kind, namespace, name string) *unstructured.Unstructured {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	u, err := l.Resource(k, namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return u
}

// condition waits for a condition's status; conditions lie at the path of fields, list indices as digits.
func (l *live) condition(t *testing.T, k reconcile.Kind, namespace, name, want string, conditions func(*unstructured.Unstructured) any) {
	t.Helper()
	eventually(t, k.Name+" "+name+" has "+want, func() (bool, string) {
		u := l.get(k, namespace, name)
		if u == nil {
			return false, "it is not there"
		}
		note := ""
		for _, c := range reconcile.Conditions(conditions(u)) {
			if c.Type+"="+string(c.Status) == want && c.ObservedGeneration == u.GetGeneration() {
				return true, ""
			}
			note += " " + c.Type + "=" + string(c.Status) + " " + c.Reason + " (" + c.Message + ")"
		}
		return false, note
	})
}

func own(u *unstructured.Unstructured) any {
	c, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	return c
}

func ofParent(u *unstructured.Unstructured) any {
	parents, _, _ := unstructured.NestedSlice(u.Object, "status", "parents")
	if len(parents) == 0 {
		return nil
	}
	return parents[0].(map[string]any)["conditions"]
}
