package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// APIVersion is the apiVersion of a release's ID.
const APIVersion = "helm.sh/v3"

// Kind is the kind of a release's ID.
const Kind = "Release"

// Objects is what this driver needs of the Kubernetes driver for the objects of a release.
type Objects interface {
	// Preview compares an object with live as a three-way merge would leave it.
	Preview(ctx context.Context, q deploy.Query, before map[string]any) (plan.Observation, error)
	// Merge creates or patches an object as Preview showed.
	Merge(ctx context.Context, want resource.Object, before map[string]any) error
	// Wait waits for readiness or, with Gone, for absence.
	Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error
	// Remove deletes an object whoever made it and returns once the API accepted it.
	Remove(ctx context.Context, id resource.ID) error
}

// Options configure the driver.
type Options struct {
	// CacheDir keeps charts by digest; "" means mifbench/charts in the user's cache directory,
	// or a temporary folder where there is none.
	CacheDir string
	// PendingAge is how old another tool's pending operation must be to count as dead; 0 means
	// ten minutes. Our own is dead whenever we hold the stack's lock.
	PendingAge time.Duration
}

// Driver works on the releases of one cluster. It is safe for concurrent use.
type Driver struct {
	objects Objects
	cluster *cluster
	charts  *charts
	options Options
	now     func() time.Time

	mu       sync.Mutex
	rendered map[string]rendering // what plan rendered, for the apply in the same process
}

var (
	_ deploy.Driver = (*Driver)(nil)
	_ deploy.Lister = (*Driver)(nil)
)

// New returns a driver for the cluster of cfg. It sends nothing.
func New(cfg *rest.Config, objects Objects, o Options) (*Driver, error) {
	if o.PendingAge == 0 {
		o.PendingAge = 10 * time.Minute
	}
	c, err := newCluster(cfg, objects)
	if err != nil {
		return nil, err
	}
	return &Driver{
		objects: objects, cluster: c, charts: &charts{dir: o.CacheDir, indexes: map[string]*index{}},
		options: o, now: time.Now, rendered: map[string]rendering{},
	}, nil
}

// spec decodes the object's Spec; a wrong shape is a kind's mistake and panics. The values keep
// their integers: JSON would turn 32400000 into 3.24e+07 in a template.
func spec(o *resource.Object) resource.ReleaseSpec {
	var s resource.ReleaseSpec
	text, err := json.Marshal(o.Spec)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(fmt.Sprintf("helm: spec of %s: %v", o.ID, err))
	}
	values, _ := o.Spec["values"].(map[string]any)
	s.Values = copyTree(values)
	return s
}

func releaseID(q deploy.Query) resource.ID {
	switch {
	case q.Want != nil:
		return q.Want.ID
	case q.Prior != nil:
		return q.Prior.ID
	}
	panic("helm: a query without Want and Prior")
}
