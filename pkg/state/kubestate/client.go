package kubestate

import (
	"context"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Secrets is what the store needs of client-go's SecretInterface of one namespace.
type Secrets interface {
	Get(ctx context.Context, name string, o meta.GetOptions) (*core.Secret, error)
	Create(ctx context.Context, s *core.Secret, o meta.CreateOptions) (*core.Secret, error)
	Update(ctx context.Context, s *core.Secret, o meta.UpdateOptions) (*core.Secret, error)
	DeleteCollection(ctx context.Context, o meta.DeleteOptions, list meta.ListOptions) error
}

// Leases is what the store needs of client-go's LeaseInterface of one namespace.
type Leases interface {
	Get(ctx context.Context, name string, o meta.GetOptions) (*coordination.Lease, error)
	Create(ctx context.Context, l *coordination.Lease, o meta.CreateOptions) (*coordination.Lease, error)
	Update(ctx context.Context, l *coordination.Lease, o meta.UpdateOptions) (*coordination.Lease, error)
	Delete(ctx context.Context, name string, o meta.DeleteOptions) error
}

var (
	_ Secrets = coreclient.SecretInterface(nil)
	_ Leases  = coordinationclient.LeaseInterface(nil)
)
