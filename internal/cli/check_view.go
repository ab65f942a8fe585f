package cli

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/deploy/helm"
	"github.com/mifbench/mifbench/pkg/deploy/kube"
	"github.com/mifbench/mifbench/pkg/resource"
)

// clusterView is what the checks may ask of a stack's cluster.
type clusterView struct {
	objects  *kube.Driver
	releases *helm.Driver
}

var _ check.Cluster = clusterView{}

// refused turns a missing right into the checks' own word for it.
func refused(err error) error {
	if err != nil && (errors.Is(err, deploy.ErrForbidden) || apierrors.IsForbidden(err)) {
		return fmt.Errorf("%w: %w", check.ErrForbidden, err)
	}
	return err
}

func (v clusterView) Kind(ctx context.Context, apiVersion, kind string) (check.Served, error) {
	k, err := v.objects.KindInfo(ctx, apiVersion, kind)
	return check.Served(k), refused(err)
}

func (v clusterView) Get(ctx context.Context, id resource.ID) (map[string]any, error) {
	o, err := v.objects.Get(ctx, id)
	return o, refused(err)
}

func (v clusterView) Each(ctx context.Context, l check.List, visit func(map[string]any)) error {
	return refused(v.objects.Each(ctx, kube.Query(l), visit))
}

func (v clusterView) Allowed(ctx context.Context, rights []check.Right) ([]bool, error) {
	list := make([]kube.Right, len(rights))
	for i, r := range rights {
		list[i] = kube.Right(r)
	}
	ok, err := v.objects.Allowed(ctx, list)
	return ok, refused(err)
}

func (v clusterView) Release(ctx context.Context, namespace, name string) (*check.Release, error) {
	r, err := v.releases.Record(ctx, namespace, name)
	return (*check.Release)(r), refused(err)
}
