package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Manager is the field manager of everything that this driver applies.
const Manager = "mifbench"

// Annotations that Apply writes on every object.
const (
	// StackAnnotation names the stack that owns the object.
	StackAnnotation = "mifbench.dev/stack"
	// AddressAnnotation is the block that wants the object, as in resource.Address.String.
	AddressAnnotation = "mifbench.dev/address"
	// CreatedAnnotation is "false" on objects that the stack adopted.
	CreatedAnnotation = "mifbench.dev/created"
	// DependsOnAnnotation is a JSON list of resource.ID.
	DependsOnAnnotation = "mifbench.dev/depends-on"
)

// Driver talks to one cluster. It is safe for concurrent use.
type Driver struct {
	config   *rest.Config
	dynamic  *dynamic.DynamicClient
	metadata metadata.Interface
	typed    *kubernetes.Clientset
	kinds    *kinds
	cluster  Cluster
	patience Patience
	answers  answers
	// limit bounds one call.
	limit time.Duration
	now   func() time.Time
}

var (
	_ deploy.Driver = (*Driver)(nil)
	_ deploy.Lister = (*Driver)(nil)
)

// New returns a driver for the cluster that cfg points at. It sends nothing.
// Client-side rate limits are off: the API server's own fairness rules apply, and
// its 429 answers are retried after the time that they ask for.
func New(cfg *rest.Config) (*Driver, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.WarningHandlerWithContext = warningHandler{}
	if cfg.UserAgent == "" {
		cfg.UserAgent = Manager
	}
	cfg.Wrap(noteAnswers)
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	d := &Driver{config: cfg, cluster: Cluster{Server: cfg.Host}, patience: DefaultPatience(), limit: callLimit, now: time.Now}
	if d.dynamic, err = dynamic.NewForConfigAndClient(cfg, client); err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	if d.metadata, err = metadata.NewForConfigAndClient(metadata.ConfigFor(cfg), client); err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	if d.typed, err = kubernetes.NewForConfigAndClient(cfg, client); err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	dc, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, client)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Host, err)
	}
	d.kinds = &kinds{client: dc, call: d.retryRead}
	return d, nil
}

// Config is a copy of the connection's configuration, for the Helm driver and for exec.
func (d *Driver) Config() *rest.Config { return rest.CopyConfig(d.config) }

// SetPatience replaces the grace periods after which a failing pod dooms its owner.
// Call it before the driver is used.
func (d *Driver) SetPatience(p Patience) { d.patience = p }

// resource is the client for the objects of id's kind; namespaced tells whether they live in one.
func (d *Driver) resource(ctx context.Context, id resource.ID) (dynamic.ResourceInterface, served, error) {
	k, err := d.kinds.lookup(ctx, id.APIVersion, id.Kind)
	if isNoKind(err) {
		return nil, k, err
	}
	if err != nil {
		return nil, k, d.explain("find out how the cluster serves", id, err)
	}
	r := d.dynamic.Resource(k.gvr)
	if !k.namespaced {
		return r, k, nil
	}
	if id.Namespace == "" {
		return nil, k, fmt.Errorf("%s: %s objects live in a namespace and none is given; write metadata.namespace", id, id.Kind)
	}
	return r.Namespace(id.Namespace), k, nil
}

// get reads the live object, nil when it or its kind does not exist.
func (d *Driver) get(ctx context.Context, id resource.ID) (map[string]any, error) {
	r, _, err := d.resource(ctx, id)
	if isNoKind(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var u *unstructured.Unstructured
	err = d.retryRead(ctx, func(ctx context.Context) (err error) {
		u, err = r.Get(ctx, id.Name, metav1.GetOptions{})
		return err
	})
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, d.explain("read", id, err)
	}
	return u.Object, nil
}

// Get reads an object as the server has it, secrets included: the result is for
// decisions, never for showing. It is nil when the object or its kind is absent.
func (d *Driver) Get(ctx context.Context, id resource.ID) (map[string]any, error) {
	return d.get(ctx, id)
}

// warnings collects the API server's warning headers of one call.
type warnings struct {
	mu   sync.Mutex
	list []string
}

type warningsKey struct{}

func collectWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list
}

type warningHandler struct{}

// HandleWarningHeaderWithContext keeps a warning for the caller that asked for warnings.
func (warningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}
