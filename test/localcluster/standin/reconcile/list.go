package reconcile

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

func list(l cache.GenericLister, namespace string) ([]runtime.Object, error) {
	if namespace == "" {
		return l.List(labels.Everything())
	}
	return l.ByNamespace(namespace).List(labels.Everything())
}
