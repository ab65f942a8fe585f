package controlplane

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// startScheduler starts the real kube-scheduler; run ends, with its error, when the scheduler does.
func startScheduler(ctx context.Context, kubeconfig string) (run func() error, err error) {
	o := options.NewOptions()
	fs := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	for _, f := range o.Flags.FlagSets {
		fs.AddFlagSet(f)
	}
	flags := []string{"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0", "--authentication-skip-lookup=true"}
	if err := fs.Parse(flags); err != nil {
		return nil, fmt.Errorf("flags of kube-scheduler: %w", err)
	}
	cc, s, err := app.Setup(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("set up kube-scheduler: %w", err)
	}
	return func() error { return app.Run(ctx, cc, s) }, nil
}
