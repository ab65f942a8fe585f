package ecr_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mifbench/mifbench/internal/clustertest"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/ecr"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

func TestPullSecretOnACluster(t *testing.T) {
	c := clustertest.Start(t)
	for k, v := range c.Env {
		t.Setenv(k, v)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kube.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ns := fmt.Sprintf("e%d", os.Getpid())
	namespace := &resource.Object{ID: resource.ID{APIVersion: "v1", Kind: "Namespace", Name: ns}, Spec: map[string]any{}}
	if _, err := k.Apply(ctx, deploy.Request{Query: deploy.Query{Want: namespace, Stack: "s1"}}); err != nil {
		t.Fatal(err)
	}
	d := ecr.New(k, ecr.Options{})
	q := deploy.Query{Stack: "s1", Salt: "x", Want: &resource.Object{
		ID:   resource.ID{Driver: resource.DriverECR, APIVersion: "v1", Kind: "Secret", Namespace: ns, Name: "moreh-registry"},
		Spec: map[string]any{"mode": "aws", "registry": "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com", "region": "ap-northeast-2"},
	}}
	var last deploy.Result
	for range 2 { // the second time as a renewal
		seen, err := d.Observe(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if last, err = d.Apply(ctx, deploy.Request{Query: q, Seen: seen}); err != nil {
			t.Fatal(err)
		}
		if err := d.Wait(ctx, deploy.Request{Query: q, Seen: seen}, nil); err != nil {
			t.Fatal(err)
		}
		q.Prior = &state.Entry{ID: q.Want.ID, UID: last.UID, Created: true, Facts: last.Facts}
	}
	obs, err := d.Observe(ctx, q)
	if err != nil || obs.Renew != "" || obs.Owner != "s1" || len(obs.Notes) != 1 || fmt.Sprint(obs.Live) != fmt.Sprint(obs.Predicted) {
		t.Fatalf("%+v %v", obs, err)
	}
	gone := deploy.Request{Query: deploy.Query{Prior: q.Prior, Stack: "s1"}, Gone: true}
	if err := d.Delete(ctx, gone); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(ctx, gone, nil); err != nil {
		t.Fatal(err)
	}
}
