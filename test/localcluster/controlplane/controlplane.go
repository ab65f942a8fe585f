// Package controlplane runs a real Kubernetes control plane inside this process: embedded etcd, kube-apiserver, the
// controllers that a deployment tool meets, and kube-scheduler.
//
// It can be started once in a process (the API server keeps process-wide registries) and is stopped by ending the
// process: an orderly stop would wait for etcd's clients, for data that is thrown away anyway. Errors of a component
// that ends by itself arrive on Plane.Exited.
package controlplane

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

// Options of a control plane.
type Options struct {
	Dir        string // where etcd's data and the PKI go
	Kubeconfig string // file to write for the administrator
	Context    string // name of the context in it
	Block      address.Block
	Wire       address.Wire // where what the API server dials in the pod network is to be found
	Log        *slog.Logger
}

// Plane is a running control plane.
type Plane struct {
	Config *rest.Config // the administrator's (system:masters), with a rate limit fit for controllers
	PKI    *PKI
	Exited <-chan error // a component ended though ctx had not
}

// Start returns when the API server is ready and the controllers and the scheduler run.
func Start(ctx context.Context, o Options) (*Plane, error) {
	// Each component wants to set up logging; only the first may.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	p, err := identities(filepath.Join(o.Dir, "pki"), o)
	if err != nil {
		return nil, err
	}
	etcd, err := startEtcd(ctx, filepath.Join(o.Dir, "etcd"), o.Block.Etcd(false), o.Block.Etcd(true))
	if err != nil {
		return nil, err
	}
	o.Log.Info("etcd is ready", "url", etcd)
	opts, err := apiserverOptions(ctx, apiserverFlags(o.Block, p, etcd))
	if err != nil {
		return nil, err
	}
	exited := make(chan error, 2)
	go report(ctx, exited, "kube-apiserver", func() error { return runAPIServer(ctx, opts, o.Wire) })
	cfg, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 500, 1000
	if err := waitReady(ctx, cfg, exited); err != nil {
		return nil, err
	}
	o.Log.Info("API server is ready", "url", cfg.Host)
	if err := startWorkers(ctx, o, p, cfg, exited); err != nil {
		return nil, err
	}
	return &Plane{Config: cfg, PKI: p, Exited: exited}, nil
}

// startWorkers starts what needs a ready API server.
func startWorkers(ctx context.Context, o Options, p *PKI, cfg *rest.Config, exited chan<- error) error {
	ca, err := p.CA()
	if err != nil {
		return err
	}
	if err := startControllers(ctx, rest.CopyConfig(cfg), ca); err != nil {
		return err
	}
	run, err := startScheduler(ctx, p.Path("scheduler.kubeconfig"))
	if err != nil {
		return err
	}
	go report(ctx, exited, "kube-scheduler", run)
	o.Log.Info("controllers and scheduler run")
	return nil
}

// identities issues the certificates and kubeconfigs of a cluster.
func identities(dir string, o Options) (*PKI, error) {
	p, err := NewPKI(dir)
	if err != nil {
		return nil, err
	}
	host, _, _ := strings.Cut(o.Block.APIServer(), ":")
	for _, id := range []Identity{
		{File: "apiserver", Name: "kube-apiserver", IPs: []string{host, o.Block.KubernetesService(), address.Twin(o.Block.KubernetesService())},
			DNS: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}},
		{File: "admin", Name: "admin", Groups: []string{"system:masters"}},
		{File: "scheduler", Name: "system:kube-scheduler"},
		{File: "kubelet", Name: "kubelet", IPs: []string{o.Block.Node(0)}},
	} {
		if err := p.Issue(id); err != nil {
			return nil, err
		}
	}
	server := "https://" + o.Block.APIServer()
	if err := p.writeKubeconfig(p.Path("scheduler.kubeconfig"), "scheduler", server, "scheduler"); err != nil {
		return nil, err
	}
	return p, p.writeKubeconfig(o.Kubeconfig, o.Context, server, "admin")
}

func report(ctx context.Context, exited chan<- error, name string, run func() error) {
	err := run()
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = fmt.Errorf("no error given")
	}
	exited <- fmt.Errorf("%s ended: %w", name, err)
}

func waitReady(ctx context.Context, cfg *rest.Config, exited <-chan error) error {
	hc, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ready(ctx, hc, cfg.Host+"/readyz") {
			return nil
		}
		select {
		case err := <-exited:
			return err
		case <-ctx.Done():
			return fmt.Errorf("API server %s is not ready: %w", cfg.Host, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func ready(ctx context.Context, hc *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	r, err := hc.Do(req)
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}
