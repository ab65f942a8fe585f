package kube

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mifbench/mifbench/pkg/state"
)

// InCluster is the context name that means: the service account of the pod we run in.
const InCluster = "in-cluster"

// connectTimeout bounds the first question to an API server.
const connectTimeout = 15 * time.Second

// Options say which cluster to talk to. Nothing is guessed: there is no fall-back to
// localhost nor, unless Context is InCluster, to the pod's own service account.
type Options struct {
	// Kubeconfig is a file, or several as in $KUBECONFIG; "" means $KUBECONFIG, then ~/.kube/config.
	Kubeconfig string
	// Context is a context of that file; "" means the one that the file itself calls current,
	// and Cluster.Assumed is set so that the header can say so.
	Context string
	// Namespace is the default namespace, "" for the context's own.
	Namespace string
}

// Cluster is what a plan's header says of the cluster, and what state pins.
type Cluster struct {
	Context    string
	Kubeconfig string
	Server     string
	Version    string
	// ID is what is known of the cluster's identity.
	ID        state.ClusterID
	Namespace string
	// Assumed is true when no context was asked for and the file's current one is used.
	Assumed bool
}

// Connect loads the kubeconfig, asks the server for its version and identity (see Identify) and
// returns a driver. Errors name the file, the context and the server that were tried.
func Connect(ctx context.Context, o Options) (*Driver, error) {
	cfg, c, err := load(o)
	if err != nil {
		return nil, err
	}
	d, err := New(cfg)
	if err != nil {
		return nil, err
	}
	d.cluster = c
	_, err = d.Identify(ctx)
	return d, err
}

// Cluster is what is known of the cluster; ID and Version are empty before Identify.
func (d *Driver) Cluster() Cluster { return d.cluster }

func load(o Options) (*rest.Config, Cluster, error) {
	c := Cluster{Context: o.Context, Namespace: o.Namespace}
	if o.Context == InCluster {
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, c, fmt.Errorf("context %q: %w", InCluster, err)
		}
		c.Server, cfg.Timeout = cfg.Host, 0
		return cfg, c, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if list := filepath.SplitList(o.Kubeconfig); len(list) > 1 {
		rules.Precedence = list // as in $KUBECONFIG
	} else {
		rules.ExplicitPath = o.Kubeconfig
	}
	c.Kubeconfig = strings.Join(rules.GetLoadingPrecedence(), ":")
	raw, err := rules.Load()
	if err != nil {
		return nil, c, fmt.Errorf("kubeconfig %s: %w", c.Kubeconfig, err)
	}
	if c.Context, err = chooseContext(raw, o.Context, c.Kubeconfig); err != nil {
		return nil, c, err
	}
	c.Assumed = o.Context == ""
	cc := clientcmd.NewNonInteractiveClientConfig(*raw, c.Context, &clientcmd.ConfigOverrides{}, rules)
	cfg, err := cc.ClientConfig()
	if err != nil {
		return nil, c, fmt.Errorf("kubeconfig %s, context %q: %w", c.Kubeconfig, c.Context, err)
	}
	if c.Namespace == "" {
		if c.Namespace, _, err = cc.Namespace(); err != nil {
			return nil, c, fmt.Errorf("kubeconfig %s, context %q: %w", c.Kubeconfig, c.Context, err)
		}
	}
	c.Server = cfg.Host
	return cfg, c, nil
}

// chooseContext never falls back: an unknown or absent context is an error that lists the known ones.
func chooseContext(raw *api.Config, want, file string) (string, error) {
	names := make([]string, 0, len(raw.Contexts))
	for n := range raw.Contexts {
		names = append(names, n)
	}
	sort.Strings(names)
	if want == "" {
		want = raw.CurrentContext
	}
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("kubeconfig %s: no such file or no context in it; set cluster { kubeconfig, context } or KUBECONFIG", file)
	case want == "":
		return "", fmt.Errorf("kubeconfig %s has no current-context; set cluster { context } to one of %s", file, strings.Join(names, ", "))
	case raw.Contexts[want] == nil:
		return "", fmt.Errorf("kubeconfig %s has no context %q; it has %s", file, want, strings.Join(names, ", "))
	}
	return want, nil
}
