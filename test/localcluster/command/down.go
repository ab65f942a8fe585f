package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mifbench/mifbench/test/localcluster/clusterdir"
)

// stopGrace is how long a cluster may take to end its pods.
const stopGrace = 15 * time.Second

func down(_ context.Context, args []string, s streams) error {
	dir, err := parseWhere("down", args, s)
	if err != nil {
		return err
	}
	if _, err := os.Stat(string(dir)); os.IsNotExist(err) {
		fmt.Fprintf(s.out, "nothing to end: %s does not exist\n", dir)
		return nil
	}
	if !dir.Exists() {
		return fmt.Errorf("%s is not the folder of a cluster", dir)
	}
	done, err := takeDown(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, done)
	return nil
}

func parseWhere(cmd string, args []string, s streams) (clusterdir.Dir, error) {
	var w where
	fs := flag.NewFlagSet("localcluster "+cmd, flag.ContinueOnError)
	w.register(fs)
	if err := parse(fs, args, s); err != nil {
		return "", err
	}
	return w.resolve()
}

// takeDown ends the process of a cluster and proves that nothing remains: no process of a pod, no listener, no file.
func takeDown(dir clusterdir.Dir) (string, error) {
	server := serverOf(dir)
	p, err := dir.Process()
	switch {
	case errors.Is(err, clusterdir.ErrNotRunning):
	case err != nil:
		return "", err
	default:
		if err := p.Stop(stopGrace); err != nil {
			return "", err
		}
	}
	left, err := dir.Processes()
	if err != nil {
		return "", err
	}
	for _, l := range left {
		if err := l.Stop(time.Second); err != nil {
			return "", err
		}
	}
	if err := dir.Remove(); err != nil {
		return "", err
	}
	if err := closed(server); err != nil {
		return "", err
	}
	return fmt.Sprintf("ended: no process, no listener, no file of %s remains (processes that outlived it and were ended: %d)", dir, len(left)), nil
}

// closed waits until nothing listens on an address: the kernel closes a process's sockets a moment after it shows the
// process as ended, when its last thread is gone.
func closed(server string) error {
	for deadline := time.Now().Add(stopGrace); server != ""; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", server, time.Second)
		if err != nil {
			return nil
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			return fmt.Errorf("something still listens on %s, the address of the cluster's API server", server)
		}
	}
	return nil
}

// serverOf returns host:port of the cluster's API server, or nothing when that is not known any more.
func serverOf(dir clusterdir.Dir) string {
	c, err := clientcmd.LoadFromFile(dir.Kubeconfig())
	if err != nil || c.Clusters[contextName] == nil {
		return ""
	}
	const scheme = len("https://")
	return c.Clusters[contextName].Server[scheme:]
}

func status(_ context.Context, args []string, s streams) error {
	dir, err := parseWhere("status", args, s)
	if err != nil {
		return err
	}
	p, err := dir.Process()
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	state := "starting"
	if _, err := os.Stat(dir.Ready()); err == nil {
		state = "ready"
	}
	pods, err := dir.Processes()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: process %d in %s, API server %s, %d processes of pods\n", state, p.ID, dir, serverOf(dir), len(pods))
	return nil
}
