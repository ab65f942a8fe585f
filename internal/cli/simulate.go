package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/sim"
)

func (a *app) simulateCommand() *cobra.Command {
	config := sim.DefaultConfig()
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Serve an OpenAI-compatible engine simulation, for rehearsals and tests",
		Long: `An OpenAI-compatible server with vLLM's wire format, /metrics and prefill/decode
behaviour. It computes no model: it answers with the timing of one.`,
		Example: `  mifbench simulate --listen 127.0.0.1:8000 --preset mi300x-r1 --speedup 10
  mifbench simulate --fault reset:0.01 --fault 5xx:0.05:after=100`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			server, err := sim.New(config)
			if err != nil {
				return err
			}
			for rank, addr := range server.Addrs() {
				fmt.Fprintf(a.env.Stderr, "rank %d of %q on http://%s (preset %s, speed-up %g); Ctrl-C stops\n",
					rank, config.Model, addr, config.Preset, config.Speedup)
			}
			return server.Serve(a.soft)
		},
	}
	config.Flags(cmd.Flags())
	return cmd
}
