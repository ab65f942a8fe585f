// Command localcluster runs a real Kubernetes control plane with simulated nodes on this machine; see README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mifbench/mifbench/test/localcluster/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := command.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
