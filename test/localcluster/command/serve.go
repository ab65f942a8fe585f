package command

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mifbench/mifbench/test/localcluster/address"
	"github.com/mifbench/mifbench/test/localcluster/clusterdir"
	"github.com/mifbench/mifbench/test/localcluster/controlplane"
	"github.com/mifbench/mifbench/test/localcluster/crds"
	"github.com/mifbench/mifbench/test/localcluster/kubelet"
	"github.com/mifbench/mifbench/test/localcluster/serviceproxy"
	"github.com/mifbench/mifbench/test/localcluster/standin"
)

// contextName is the kubeconfig context of every cluster.
const contextName = "localcluster"

// cluster is a running one.
type cluster struct {
	o      *upOptions
	dir    clusterdir.Dir
	log    *slog.Logger
	block  address.Block
	plane  *controlplane.Plane
	nodes  *kubelet.Kubelet
	locals atomic.Int64 // addresses given to stand-ins
}

// serve runs a cluster in this process until ctx ends or a component does. What it has put into dir is gone afterwards,
// but for the log and the process's file of a cluster in the background.
func serve(ctx context.Context, o *upOptions, dir clusterdir.Dir, log *slog.Logger) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &cluster{o: o, dir: dir, log: log}
	if err := dir.Create(); err != nil {
		return err
	}
	defer func() {
		cancel()
		if c.nodes != nil {
			c.nodes.Close()
		}
		if rerr := dir.Finish(); err == nil {
			err = rerr
		}
	}()
	if err := dir.WritePID(); err != nil {
		return err
	}
	begun := time.Now()
	startCtx, stop := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not ready after %s (--timeout)", o.timeout))
	defer stop()
	if err := c.start(ctx, startCtx); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop meanwhile
		}
		return err
	}
	log.Info("ready", "kubeconfig", dir.Kubeconfig(), "seconds", time.Since(begun).Seconds())
	select {
	case <-ctx.Done():
		log.Info("stopping")
		return nil
	case err := <-c.plane.Exited:
		return err
	}
}

// start brings everything up. ctx lives as long as the cluster, startCtx as long as starting may take.
func (c *cluster) start(ctx, startCtx context.Context) error {
	defs := loadDefinitions(startCtx, c.o.crds)
	block, listeners, err := address.Claim(ctx, kubelet.NodeCount(c.o.nodes))
	if err != nil {
		return err
	}
	c.block = block
	if err := c.o.wire.Check(ctx, block); err != nil {
		return err
	}
	c.plane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: c.dir.ControlPlane(), Kubeconfig: c.dir.Kubeconfig(), Context: contextName, Block: block, Wire: c.o.wire, Log: c.log})
	if err != nil {
		return err
	}
	crt, err := tls.LoadX509KeyPair(c.plane.PKI.Path("kubelet.crt"), c.plane.PKI.Path("kubelet.key"))
	if err != nil {
		return err
	}
	proxy, err := serviceproxy.Start(ctx, c.plane.Config, c.o.wire, c.static(), c.log)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(startCtx)
	g.Go(func() (err error) {
		c.nodes, err = kubelet.Start(ctx, kubelet.Options{
			Config: c.plane.Config, Dir: c.dir.Pods(), Block: block, Listeners: listeners, Engine: c.o.engine, Wire: c.o.wire, Runtimes: kubelet.Runtimes(c.o.runtimes),
			TLS:        &tls.Config{Certificates: []tls.Certificate{crt}, ClientCAs: c.plane.PKI.Pool(), ClientAuth: tls.RequireAndVerifyClientCert},
			ReadyDelay: c.o.readyDelay, RestartBackoff: c.o.backoff, Marker: c.dir.Marker(), Log: c.log, Resolve: proxy.ClusterIP, Hosts: proxy.Hosts,
			PrivateRegistries: strings.Split(c.o.registries, ","),
		}, c.o.nodes)
		return err
	})
	g.Go(func() error { return c.install(gctx, defs) })
	if err := g.Wait(); err != nil {
		return err
	}
	env, err := c.startStandIns(ctx)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // decoding the definitions leaves some 500 MB behind
	return c.announce(env)
}

// announce publishes the variables, then the fact that all is ready.
func (c *cluster) announce(env map[string]string) error {
	out := map[string]string{"KUBECONFIG": c.dir.Kubeconfig(), "LOCALCLUSTER_CONTEXT": contextName}
	for k, v := range env {
		out[k] = v
	}
	if err := c.dir.WriteEnv(out); err != nil {
		return err
	}
	return os.WriteFile(c.dir.Ready(), []byte(c.dir.Kubeconfig()+"\n"), 0o600)
}

// static are the Services without a selector: the API server's, where pods have a network to reach it by.
func (c *cluster) static() map[string][]string {
	if !c.o.wire.Direct {
		return nil
	}
	return map[string][]string{net.JoinHostPort(c.block.KubernetesService(), "443"): {c.block.APIServer()}}
}

func (c *cluster) startStandIns(ctx context.Context) (map[string]string, error) {
	if !c.o.runStandIns() {
		return nil, nil
	}
	env, err := standin.Start(ctx, standin.Options{
		Config: c.plane.Config, Dir: c.dir.StandIns(), Only: c.o.only(),
		Log:     func(format string, args ...any) { c.log.Info(fmt.Sprintf(format, args...)) },
		PodDial: c.o.wire.Addr,
		AllocIP: func() string { return c.block.StandIn(int(c.locals.Add(1) - 1)) },
	})
	if err == nil {
		c.log.Info("stand-ins run")
	}
	return env, err
}

// install waits for the definitions to be read and installs them.
func (c *cluster) install(ctx context.Context, defs <-chan definitions) error {
	d := <-defs
	if d.err != nil {
		return d.err
	}
	if err := crds.Install(ctx, c.plane.Config, d.list); err != nil {
		return err
	}
	c.log.Info("custom resource definitions are served", "definitions", len(d.list))
	return nil
}
