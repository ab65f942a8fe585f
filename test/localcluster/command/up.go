package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mifbench/mifbench/test/localcluster/address"
	"github.com/mifbench/mifbench/test/localcluster/clusterdir"
	"github.com/mifbench/mifbench/test/localcluster/kubelet"
	"github.com/mifbench/mifbench/test/localcluster/standin"
)

// upOptions are the flags of up.
type upOptions struct {
	where
	nodes        int
	engine       kubelet.Engine
	crds         string
	standins     string
	foreground   bool
	dieWithStdin bool
	timeout      time.Duration
	readyDelay   time.Duration
	backoff      time.Duration
	registries   string
	wire         address.Wire
	runtimes     runtimes
}

// runtimes are given as IMAGE=COMMAND; the command is split at spaces.
type runtimes kubelet.Runtimes

func (r runtimes) String() string { return "" }

// Set adds one.
func (r runtimes) Set(s string) error {
	image, command, ok := strings.Cut(s, "=")
	if argv := strings.Fields(command); ok && image != "" && len(argv) > 0 {
		r[image] = argv
		return nil
	}
	return fmt.Errorf("%q is not IMAGE=COMMAND", s)
}

func (o *upOptions) register(fs *flag.FlagSet) {
	o.where.register(fs)
	fs.IntVar(&o.nodes, "nodes", 5, "simulated nodes with 8 GPUs each; one node without GPUs comes on top")
	fs.StringVar(&o.engine.Path, "engine", "", "mifbench `binary`: plays the engine pods and the containers of mifbench images (default: they are only said to be running)")
	fs.Float64Var(&o.engine.Speedup, "speedup", 1, "simulated seconds per second of the engines")
	fs.Float64Var(&o.engine.StreamScale, "stream-scale", 1, "one stream loads an engine like this many (75: 144 streams behave as 10800)")
	fs.IntVar(&o.engine.Ranks, "ranks", 8, "data-parallel ranks of an engine pod, one port each")
	fs.StringVar(&o.engine.Preset, "preset", "mi300x-r1", "performance model of the engines")
	fs.StringVar(&o.crds, "crds", "all", "custom resource definitions to install: `all or none`")
	fs.StringVar(&o.standins, "standins", "all", "stand-in controllers to run: `all, none or a list` with commas")
	fs.BoolVar(&o.foreground, "foreground", false, "stay in the foreground, log to standard error, end at a signal")
	fs.BoolVar(&o.dieWithStdin, "die-with-stdin", false, "with --foreground: end when standard input does")
	fs.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long to wait for the cluster to be ready")
	fs.StringVar(&o.registries, "private-registries", "", "`hosts` (with commas) whose images need a pull secret, or end in ImagePullBackOff")
	fs.BoolVar(&o.wire.Direct, "nominal-addresses", false, "listen on the addresses that pods and Services have in the API, not on loopback ones; only inside a network namespace that leads nowhere (test/real)")
	o.runtimes = runtimes{}
	fs.Var(o.runtimes, "runtime", "`IMAGE=COMMAND` that plays the containers of an image, by the last element of its name without tag (may be repeated; test/real)")
	fs.DurationVar(&o.readyDelay, "ready-delay", 300*time.Millisecond, "how long a container runs before it is ready")
	fs.DurationVar(&o.backoff, "restart-backoff", time.Second, "first delay of a crash loop (a real kubelet: 10s)")
}

func parseUp(args []string, s streams) (*upOptions, clusterdir.Dir, error) {
	o := &upOptions{}
	fs := flag.NewFlagSet("localcluster up", flag.ContinueOnError)
	o.register(fs)
	if err := parse(fs, args, s); err != nil {
		return nil, "", err
	}
	if err := o.check(); err != nil {
		return nil, "", usageError{err}
	}
	dir, err := o.resolve()
	return o, dir, err
}

func (o *upOptions) check() error {
	switch {
	case o.nodes < 0 || o.nodes > 200:
		return fmt.Errorf("--nodes: %d is not between 0 and 200", o.nodes)
	case o.crds != "all" && o.crds != "none":
		return fmt.Errorf("--crds: %q is neither all nor none", o.crds)
	case o.engine.Speedup <= 0 || o.engine.StreamScale < 1 || o.engine.Ranks < 1:
		return fmt.Errorf("--speedup must be above 0, --stream-scale and --ranks not below 1")
	}
	for _, n := range o.only() {
		if !slices.Contains(standin.Names(), n) {
			return fmt.Errorf("--standins: there is no %q; there are %s", n, strings.Join(standin.Names(), ", "))
		}
	}
	if o.engine.Path == "" {
		return nil
	}
	path, err := exec.LookPath(o.engine.Path)
	if err != nil {
		return fmt.Errorf("--engine: %w", err)
	}
	o.engine.Path, err = filepath.Abs(path)
	return err
}

// only lists the stand-ins asked for by name.
func (o *upOptions) only() []string {
	if o.standins == "all" || o.standins == "none" {
		return nil
	}
	return strings.Split(o.standins, ",")
}

// runStandIns says whether any is to run. Most watch kinds that need the definitions.
func (o *upOptions) runStandIns() bool { return o.standins != "none" && o.crds == "all" }

func up(ctx context.Context, args []string, s streams) error {
	o, dir, err := parseUp(args, s)
	if err != nil {
		return err
	}
	if !o.foreground {
		return detach(ctx, o, dir, args, s)
	}
	if o.dieWithStdin {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, s.in)
			cancel()
		}()
	}
	log := slog.New(slog.NewTextHandler(s.err, nil))
	return serve(ctx, o, dir, log)
}
