package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

// apiserverFlags are those of a kube-apiserver on one machine.
func apiserverFlags(b address.Block, p *PKI, etcd string) []string {
	host, port, _ := net.SplitHostPort(b.APIServer())
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=" + host, "--advertise-address=" + host, "--secure-port=" + port,
		"--tls-cert-file=" + p.Path("apiserver.crt"), "--tls-private-key-file=" + p.Path("apiserver.key"),
		"--client-ca-file=" + p.Path("ca.crt"), "--cert-dir=" + p.dir,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + p.Path("sa.key"), "--service-account-signing-key-file=" + p.Path("sa.key"),
		"--authorization-mode=RBAC", "--allow-privileged=true",
		// A loopback address is not allowed in endpoints: nobody publishes those of the Service kubernetes.
		"--service-cluster-ip-range=" + b.ServiceCIDR(), "--endpoint-reconciler-type=none",
		"--kubelet-client-certificate=" + p.Path("admin.crt"), "--kubelet-client-key=" + p.Path("admin.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--profiling=false", "--event-ttl=1h",
	}
}

// apiserverOptions goes round NewAPIServerCommand, which installs a signal handler and may do so only once in a process.
func apiserverOptions(ctx context.Context, flags []string) (options.CompletedOptions, error) {
	s := options.NewServerRunOptions()
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	named := s.Flags()
	for _, f := range named.FlagSets {
		fs.AddFlagSet(f)
	}
	if err := fs.Parse(flags); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("flags of kube-apiserver: %w", err)
	}
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(s.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return options.CompletedOptions{}, fmt.Errorf("logging options: %w", err)
	}
	co, err := s.Complete(ctx)
	if err != nil {
		return options.CompletedOptions{}, fmt.Errorf("options of kube-apiserver: %w", err)
	}
	if errs := co.Validate(); len(errs) > 0 {
		return options.CompletedOptions{}, fmt.Errorf("options of kube-apiserver: %w", errors.Join(errs...))
	}
	return co, nil
}

// runAPIServer does what app.Run does, with one change: whatever the server dials in the pod network (the proxy
// subresources of pods and services, webhooks behind a Service) is dialled at its loopback twin. It returns when the
// server ends.
func runAPIServer(ctx context.Context, opts options.CompletedOptions, wire address.Wire) error {
	if opts.InformerName == nil {
		name, err := cache.NewInformerName("kube-apiserver")
		if err != nil {
			return err
		}
		opts.InformerName = name
	}
	config, err := app.NewConfig(opts)
	if err != nil {
		return err
	}
	config.KubeAPIs.ControlPlane.ProxyTransport.DialContext = wire.Dial
	completed, err := config.Complete()
	if err != nil {
		return err
	}
	server, err := app.CreateServerChain(completed)
	if err != nil {
		return err
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}
