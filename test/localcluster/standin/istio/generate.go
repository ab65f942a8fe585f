package istio

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// generate writes the ServiceAccount, Service and Deployment of a Gateway, and records on g what stands in the way.
func (ctl *controller) generate(ctx context.Context, g *gateway) error {
	objects, exposure, err := build(g, ctl.traffic.reserve(ctx, g))
	g.exposure = exposure
	if g.problem.reason != "" {
		return nil
	}
	if err != nil {
		g.problem = problem{"Invalid", err.Error()}
		return nil
	}
	print := fingerprint(objects)
	if ctl.applied[g.uid()] == print && ctl.present(g, objects) {
		return nil
	}
	for _, o := range objects {
		_, err := ctl.c.Apply(ctx, o.kind, o.obj, manager)
		switch {
		// Server-side apply answers a field that the schema does not know with an internal error.
		case errors.IsInvalid(err) || errors.IsBadRequest(err) || errors.IsInternalError(err):
			g.problem = problem{"Invalid", err.Error()}
			return nil
		case err != nil:
			return err
		}
	}
	ctl.applied[g.uid()] = print
	return nil
}

// present tells whether what was generated is still there.
func (ctl *controller) present(g *gateway, objects []generated) bool {
	for _, o := range objects {
		var u *unstructured.Unstructured
		switch o.kind.Name {
		case "Deployment":
			u = reconcile.Get(ctl.caches.deployments, g.live.GetNamespace(), o.obj.GetName())
		case "Service":
			u = reconcile.Get(ctl.caches.services, g.live.GetNamespace(), o.obj.GetName())
		default:
			continue
		}
		if u == nil {
			return false
		}
	}
	return true
}

func fingerprint(objects []generated) string {
	h := fnv.New64a()
	for _, o := range objects {
		raw, err := json.Marshal(o.obj.Object)
		if err != nil {
			panic(err) // it came from JSON
		}
		_, _ = h.Write(raw) // a hash does not fail
	}
	return fmt.Sprint(h.Sum64())
}
