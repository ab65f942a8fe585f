// Package standin runs the controllers and services that a real MIF cluster has and the local control plane lacks, each
// reduced to what a provisioner and a load generator can observe from outside.
//
// The stand-ins talk to the cluster only through the Kubernetes API (and the API server to their webhook through
// loopback HTTPS), so a client cannot tell them from the real ones by how they are reached. What each one does not do is
// in its row of table() and in its package comment. They live with the tests and are never part of the product's binary.
//
// Start reports what cannot work at all (a port that cannot be opened, a missing CRD, an unknown name in Only); what goes
// wrong later is written to Options.Log and, where the real controller would say it, to an object's status.
package standin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/mifbench/mifbench/test/localcluster/standin/chartrepo"
	"github.com/mifbench/mifbench/test/localcluster/standin/ecr"
	"github.com/mifbench/mifbench/test/localcluster/standin/istio"
	"github.com/mifbench/mifbench/test/localcluster/standin/lws"
	"github.com/mifbench/mifbench/test/localcluster/standin/odin"
	"github.com/mifbench/mifbench/test/localcluster/standin/preset"
	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
	"github.com/mifbench/mifbench/test/localcluster/standin/replicator"
)

// Options of Start.
type Options struct {
	Config  *rest.Config                     // an administrator's; the CRDs of Gateway API, inference extension, LeaderWorkerSet and Odin are established
	Dir     string                           // private folder of the stand-ins; it exists
	Only    []string                         // names of the stand-ins to start; empty: all
	Log     func(format string, args ...any) // one line a call, without line end
	PodDial func(podIP string) string        // the loopback address behind a nominal pod address
	AllocIP func() string                    // a fresh 127/8 address that nothing else of the cluster listens on
}

// standIn is a row of the table.
type standIn struct {
	name  string
	plays string // which part of a real cluster
	not   string // what of it is left out
	start func(ctx context.Context, c *reconcile.Cluster, o Options) (map[string]string, error)
}

// table lists the stand-ins in the order in which they are started.
func table() []standIn {
	return []standIn{
		{"presets", "moai-inference-preset: InferenceServiceTemplates in namespace mif", "the other 190 templates; the shell scripts of the originals", startPresets},
		{"odin", "Odin v0.8: InferenceService controller and webhooks", "Sprig functions, autoscaling, spec.service, v0.10 status fields", startOdin},
		{"lws", "LeaderWorkerSet controller", "StatefulSets, headless Services, maxSurge, subgroups, partition", startLWS},
		{"istio", "Istio with the inference extension, and heimdall's endpoint picking", "TLS, TCP, Service backends, filters, weights, Envoy itself, reading the EndpointPickerConfig", startIstio},
		{"replicator", "kubernetes-replicator and the framework's ECR token refresher", "pull replication, ConfigMaps, roles", startReplicator},
		{"ecr", "the ECR API's GetAuthorizationToken", "every other call; signatures are not recomputed", startECR},
		{"charts", "a Helm repository with a heimdall chart", "the published chart's text; signatures, OCI", startCharts},
	}
}

// Names returns the names that Options.Only may hold.
func Names() []string {
	var out []string
	for _, s := range table() {
		out = append(out, s.name)
	}
	return out
}

// Start starts the stand-ins and returns when each is ready to act, with the variables of environment through which a
// client finds those that it calls by address. Everything ends with ctx.
func Start(ctx context.Context, o Options) (map[string]string, error) {
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("no stand-in is called %q; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	c, err := reconcile.New(o.Config, o.Log)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, s := range table() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, s.name) {
			continue
		}
		vars, err := s.start(ctx, c, o)
		if err != nil {
			return nil, fmt.Errorf("stand-in %s: %w", s.name, err)
		}
		for k, v := range vars {
			env[k] = v
		}
	}
	return env, nil
}

func startPresets(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return nil, preset.Start(ctx, c)
}

func startOdin(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return nil, odin.Start(ctx, c)
}

func startLWS(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return nil, lws.Start(ctx, c)
}

func startIstio(ctx context.Context, c *reconcile.Cluster, o Options) (map[string]string, error) {
	return nil, istio.Start(ctx, c, istio.Addresses{Twin: o.PodDial, Alloc: o.AllocIP})
}

func startReplicator(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return nil, replicator.Start(ctx, c)
}

func startECR(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return ecr.Start(ctx, c.Log)
}

func startCharts(ctx context.Context, c *reconcile.Cluster, _ Options) (map[string]string, error) {
	return chartrepo.Start(ctx, c.Log)
}
