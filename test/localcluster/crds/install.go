package crds

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Install creates definitions, all at once (one after another takes ten times as long), and returns when the API server
// serves each of them.
func Install(ctx context.Context, cfg *rest.Config, defs []*apiext.CustomResourceDefinition) error {
	client, err := clientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	api := client.ApiextensionsV1().CustomResourceDefinitions()
	errs := make(chan error, len(defs))
	for _, d := range defs {
		go func() {
			_, err := api.Create(ctx, d, metav1.CreateOptions{})
			if err != nil {
				err = fmt.Errorf("create definition %s: %w", d.Name, err)
			}
			errs <- err
		}()
	}
	for range defs {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := api.List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list definitions: %w", err)
		}
		missing := unestablished(defs, list.Items)
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("definitions are not served: %v: %w", missing, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func unestablished(want []*apiext.CustomResourceDefinition, have []apiext.CustomResourceDefinition) []string {
	ok := map[string]bool{}
	for _, d := range have {
		for _, c := range d.Status.Conditions {
			if c.Type == apiext.Established && c.Status == apiext.ConditionTrue {
				ok[d.Name] = true
			}
		}
	}
	var out []string
	for _, d := range want {
		if !ok[d.Name] {
			out = append(out, d.Name)
		}
	}
	return out
}
