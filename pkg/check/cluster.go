package check

import (
	"context"
	"errors"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// ErrForbidden is wrapped by a Cluster's errors for what the user may not read. Such a gap is
// reported as skipped; any other error means that the cluster did not answer.
var ErrForbidden = errors.New("forbidden")

// Cluster is what the checks ask of a cluster; nothing of it changes anything. All methods
// are called concurrently.
type Cluster interface {
	Objects
	// Allowed tells which of the rights the user has, in their order.
	Allowed(ctx context.Context, rights []Right) ([]bool, error)
	// Release is the newest revision of a Helm release, nil when there is none.
	Release(ctx context.Context, namespace, name string) (*Release, error)
}

// Objects are a cluster's kinds and objects.
type Objects interface {
	// Kind tells how the cluster serves a kind.
	Kind(ctx context.Context, apiVersion, kind string) (Served, error)
	// Get reads an object as the server has it; nil when it or its kind does not exist.
	Get(ctx context.Context, id resource.ID) (map[string]any, error)
	// Each visits the objects of a kind, those of all namespaces when namespace is "". The
	// selectors are Kubernetes' own, "" for all. A kind that is not served has no objects.
	Each(ctx context.Context, l List, visit func(map[string]any)) error
}

// Served is how a cluster serves a kind.
type Served struct {
	// Version tells whether it does so in the version asked for; Others are the group/versions
	// in which it serves the kind besides.
	Version bool
	Others  []string
	// Resource is the plural name in requests ("inferencepools"), "" when it is not served.
	Resource   string
	Namespaced bool
	// Supplier is a sentence without a full stop that says what would bring the kind.
	Supplier string
}

// List asks for objects.
type List struct {
	APIVersion, Kind, Namespace string
	// Labels and Fields are selectors, "" for all.
	Labels, Fields string
}

// Right is one thing that a user may be allowed to do.
type Right struct {
	Verb, Group, Resource, Subresource string
	// Namespace is "" for what lives in none, or for all namespaces.
	Namespace string
	// Name is "" for all objects.
	Name string
}

// Release is one revision of a Helm release.
type Release struct {
	Revision int
	// Status is Helm's: deployed, failed, pending-install, uninstalling …
	Status         string
	Chart, Version string
	// About is the chart's description.
	About string
	// Stack is the stack that made the release with this tool, "" for none.
	Stack   string
	Updated time.Time
}

// Identity says which cluster is meant and which one was found.
type Identity struct {
	Context, Server string
	// Cluster tells which cluster this is, "" when that may not be read; State tells which one
	// the state remembers, "" for none.
	Cluster, State string
	// Stranger says why the state is not this cluster's, "" when it is.
	Stranger string
	// StateGap says why the state could not be read, "" when it could.
	StateGap string
	// Namespace is the context's own.
	Namespace string
}
