package istio

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

func applyClass(ctx context.Context, c *reconcile.Cluster) error {
	u, err := reconcile.Object(reconcile.GatewayClasses(), map[string]any{
		"metadata": map[string]any{"name": ClassName},
		"spec": map[string]any{
			"controllerName": Controller,
			"description":    "The default Istio GatewayClass",
		},
	})
	if err != nil {
		return err
	}
	_, err = c.Apply(ctx, reconcile.GatewayClasses(), u, manager)
	return err
}

// classStatus accepts the class; a class of the same controller under another name is not served.
func (ctl *controller) classStatus(ctx context.Context) error {
	u := reconcile.Get(ctl.caches.classes, "", ClassName)
	if u == nil {
		return nil
	}
	conds := reconcile.Conditions(nested(u.Object, "status", "conditions"),
		reconcile.Condition("Accepted", true, u.GetGeneration(), "Accepted", "Handled by Istio controller"))
	return ctl.c.PatchStatus(ctx, reconcile.GatewayClasses(), u, map[string]any{"conditions": conds})
}

func condition(typ string, ok bool, generation int64, reason, message string) metav1.Condition {
	return reconcile.Condition(typ, ok, generation, reason, message)
}

// nested returns a field of an object, nil when it is not there.
func nested(m map[string]any, path ...string) any {
	var v any = m
	for _, p := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[p]
	}
	return v
}
