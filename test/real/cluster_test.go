package real

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster reads objects and, for the one who looks for a mistake, what kubectl shows.
type cluster struct {
	dynamic.Interface
	env []string
}

func connect(t *testing.T, kubeconfig string, env []string) *cluster {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{client, env}
}

// get reads an object.
func (c *cluster) get(t *testing.T, kind schema.GroupVersionResource, namespace, name string) map[string]any {
	t.Helper()
	u, err := c.Resource(kind).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u.Object
}

// pods reads the addresses of the pods of a role.
func (c *cluster) pods(t *testing.T, role string) []string {
	t.Helper()
	kind := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	list, err := c.Resource(kind).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "mif.moreh.io/role=" + role})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range list.Items {
		var pod struct{ Status struct{ PodIP string } }
		decode(t, p.Object, &pod)
		out = append(out, pod.Status.PodIP)
	}
	return out
}

func decode(t *testing.T, from, into any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// show prints what is needed to find out what went wrong.
func (c *cluster) show(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"get", "pods", "-A", "-o", "wide"}, {"get", "events", "-A", "--sort-by=.lastTimestamp"},
		{"logs", "-n", "istio-system", "deploy/istiod", "--tail=60"},
		{"logs", "-n", namespace, "deploy/mif-istio", "--tail=60"},
		{"logs", "-n", namespace, "deploy/heimdall", "--tail=60"},
	} {
		// The test's own context may have ended.
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		cmd := exec.CommandContext(ctx, "kubectl", args...)
		cmd.Env = c.env
		out, err := cmd.CombinedOutput()
		cancel()
		t.Logf("kubectl %s (%v)\n%s", strings.Join(args, " "), err, out)
	}
}
