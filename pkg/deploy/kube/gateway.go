package kube

import (
	"context"
	"errors"
	"fmt"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// gatewayLabel is what a controller that runs the proxies of a Gateway itself writes on their Deployment
// (Gateway API, GEP-1762).
const gatewayLabel = "gateway.networking.k8s.io/gateway-name"

// behind is the readiness of a Gateway that counts as programmed: of the Deployment that its controller made
// for it, if there is one. Programmed says that the proxies' configuration is known, not that a proxy listens.
// Classes whose proxies are elsewhere have none, and who may not look has the Gateway's own word.
func (d *Driver) behind(ctx context.Context, gateway resource.ID) (plan.Readiness, error) {
	list, err := d.Objects(ctx, "apps/v1", "Deployment", gateway.Namespace, gatewayLabel+"="+gateway.Name)
	if errors.Is(err, deploy.ErrForbidden) || isNoKind(err) {
		return ready(""), nil
	}
	if err != nil {
		return plan.Readiness{}, err
	}
	for _, m := range list {
		if r := Ready(m, nil); !r.Ready {
			r.Reason = fmt.Sprintf("programmed, but Deployment %s/%s is not ready: %s", gateway.Namespace, metaString(m, "name"), r.Reason)
			return r, nil
		}
	}
	return ready(""), nil
}

// whole is the verdict of an object's own rule and, where that is not all, of what stands behind it.
func (d *Driver) whole(ctx context.Context, id resource.ID, live map[string]any, own *resource.Wait) (plan.Readiness, error) {
	verdict := Ready(live, own)
	if !verdict.Ready || own != nil || id.Kind != "Gateway" || id.Group() != "gateway.networking.k8s.io" {
		return verdict, nil
	}
	return d.behind(ctx, id)
}
