package kube

import (
	"context"
	"errors"
	"strings"
	"testing"

	authv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
)

func TestGrants(t *testing.T) {
	rule := func(verbs, groups, resources string, names ...string) authv1.ResourceRule {
		return authv1.ResourceRule{Verbs: strings.Fields(verbs), APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources), ResourceNames: names}
	}
	get := Right{Verb: "get", Resource: "pods"}
	logs := Right{Verb: "get", Resource: "pods", Subresource: "log"}
	for _, c := range []struct {
		name  string
		rule  authv1.ResourceRule
		right Right
		want  bool
	}{
		{"exact", rule("get list", "", "pods services"), get, true},
		{"everything", rule("*", "*", "*"), logs, true},
		{"other verb", rule("list", "", "pods"), get, false},
		{"other group", rule("get", "apps", "pods"), get, false},
		{"the resource does not cover its subresource", rule("get", "", "pods"), logs, false},
		{"subresource", rule("get", "", "pods/log"), logs, true},
		{"subresource of all", rule("get", "", "*/log"), logs, true},
		{"one name is not all", rule("get", "", "pods", "a"), get, false},
		{"that name", rule("get", "", "pods", "a"), Right{Verb: "get", Resource: "pods", Name: "a"}, true},
	} {
		if got := grants(c.rule, c.right); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// viewer is a user who may read a few kinds in the whole cluster, Secrets not among them.
func (w *world) viewer() *Driver {
	w.t.Helper()
	w.kubectl(object("rbac.authorization.k8s.io/v1", "ClusterRole", "", w.ns+"-viewer", map[string]any{"rules": []any{map[string]any{
		"apiGroups": []any{""}, "resources": []any{"pods", "pods/log", "configmaps"}, "verbs": []any{"get", "list"},
	}}}))
	w.kubectl(object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", w.ns+"-viewer", map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": w.ns + "-viewer"},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": w.ns + "-viewer"}},
	}))
	return w.driver(func(c *rest.Config) { c.Impersonate.UserName = w.ns + "-viewer" })
}

func TestAllowed(t *testing.T) {
	w := newWorld(t)
	rights := []Right{
		{Verb: "get", Resource: "configmaps", Namespace: w.ns},
		{Verb: "create", Resource: "configmaps", Namespace: w.ns},
		{Verb: "get", Resource: "secrets", Namespace: w.ns},
		{Verb: "get", Resource: "pods", Subresource: "log", Namespace: w.ns},
		{Verb: "list", Resource: "pods"},
		{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"},
	}
	w.requests.Store(0)
	got, err := w.d.Allowed(w.ctx(), rights)
	if err != nil || strings.Contains(flags(got), "-") {
		t.Errorf("the administrator may %s (%v)", flags(got), err)
	}
	if n := w.requests.Load(); n != 1 {
		t.Errorf("%d requests for an administrator, want 1", n)
	}
	viewer := w.viewer()
	w.requests.Store(0)
	if got, err = viewer.Allowed(w.ctx(), rights); err != nil || flags(got) != "+--++-" {
		t.Errorf("a viewer may %s, want +--++- (%v)", flags(got), err)
	}
	if n := w.requests.Load(); n != 6 {
		t.Errorf("%d requests for a viewer, want 6: everything, the namespace's rules, two that these do not show, two of the whole cluster", n)
	}
}

func flags(list []bool) string {
	var b strings.Builder
	for _, ok := range list {
		b.WriteString(map[bool]string{true: "+", false: "-"}[ok])
	}
	return b.String()
}

func TestEachSaysForbidden(t *testing.T) {
	w := newWorld(t)
	err := w.viewer().Each(w.ctx(), Query{APIVersion: "v1", Kind: "Secret", Namespace: w.ns}, func(map[string]any) {})
	if !errors.Is(err, deploy.ErrForbidden) {
		t.Errorf("got %v", err)
	}
	if err := w.d.Each(w.ctx(), Query{APIVersion: "example.org/v1", Kind: "Nothing"}, func(map[string]any) {}); err != nil {
		t.Errorf("a kind that is not served has no objects: %v", err)
	}
	names := 0
	if err := w.d.Each(w.ctx(), Query{APIVersion: "v1", Kind: "Namespace", Fields: "metadata.name=" + w.ns}, func(map[string]any) { names++ }); err != nil || names != 1 {
		t.Errorf("%d namespaces with that name (%v)", names, err)
	}
}

func TestKindInfo(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		apiVersion, kind string
		want             KindInfo
	}{
		{"v1", "ConfigMap", KindInfo{Version: true, Resource: "configmaps", Namespaced: true}},
		{"gateway.networking.k8s.io/v1", "GatewayClass", KindInfo{Version: true, Resource: "gatewayclasses"}},
		{"batch/v2", "CronJob", KindInfo{Others: []string{"batch/v1"}, Resource: "cronjobs", Namespaced: true}},
		{"cert-manager.io/v1", "Issuer", KindInfo{}},
	} {
		got, err := w.d.KindInfo(context.Background(), c.apiVersion, c.kind)
		if err != nil {
			t.Fatal(err)
		}
		if got.Supplier == "" || got.Version != c.want.Version || strings.Join(got.Others, " ") != strings.Join(c.want.Others, " ") ||
			got.Resource != c.want.Resource || got.Namespaced != c.want.Namespaced {
			t.Errorf("%s %s: %+v", c.apiVersion, c.kind, got)
		}
	}
}
