// Command epp is the endpoint picker of llm-d-inference-scheduler, made of its own packages, for
// make e2e-real. It takes the flags of the original.
package main

import (
	"os"

	"github.com/llm-d/llm-d-inference-scheduler/pkg/metrics"
	"github.com/llm-d/llm-d-inference-scheduler/pkg/plugins"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/gateway-api-inference-extension/cmd/epp/runner"
)

func main() {
	plugins.RegisterAllPlugins()
	r := runner.NewRunner().WithCustomCollectors(metrics.GetCollectors()...)
	if err := r.Run(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1) // the runner has logged it
	}
}
