// Package clusterdir knows what lies in the folder of a cluster, and which processes belong to it.
//
// The folder is private (0700) and holds everything that a cluster leaves on disk. Nothing is removed from it that a
// cluster has not put there. Processes are found through /proc: the package works on Linux only.
package clusterdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Dir is the folder of a cluster, an absolute path.
type Dir string

// Default returns the folder of the cluster with the given name.
func Default(name string) Dir { return Dir(filepath.Join(os.TempDir(), "mifbench-localcluster-"+name)) }

// PID is the file with the process that runs the cluster.
func (d Dir) PID() string { return d.file("pid") }

// Ready is the file that appears when the cluster is ready.
func (d Dir) Ready() string { return d.file("ready") }

// Env is the file with variables for a client's shell.
func (d Dir) Env() string { return d.file("env") }

// Log is the log of a cluster that runs in the background.
func (d Dir) Log() string { return d.file("log") }

// Kubeconfig is the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.file("kubeconfig") }

// ControlPlane is the folder of etcd and the certificates.
func (d Dir) ControlPlane() string { return d.file("controlplane") }

// Pods is the folder of the kubelets.
func (d Dir) Pods() string { return d.file("pods") }

// StandIns is the folder of the stand-in controllers.
func (d Dir) StandIns() string { return d.file("standins") }

// mark is the file that says that the folder is a cluster's.
func (d Dir) mark() string { return d.file(".localcluster") }

func (d Dir) file(name string) string { return filepath.Join(string(d), name) }

// entries lists all that a cluster puts into its folder.
func (d Dir) entries() []string {
	return []string{d.Ready(), d.Env(), d.Kubeconfig(), d.Pods(), d.StandIns(), d.ControlPlane(), d.Log(), d.PID(), d.mark()}
}

// Create makes the folder. It fails when a cluster runs there, or when something is in it that no cluster has made.
func (d Dir) Create() error {
	if pid, err := d.Process(); err == nil {
		return fmt.Errorf("a cluster already runs in %s (process %d); end it with: localcluster down --dir %s", d, pid.ID, d)
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	alien, err := d.alien()
	if err != nil {
		return err
	}
	if len(alien) > 0 {
		return fmt.Errorf("%s holds %s, which no cluster has put there; give another folder with --dir", d, strings.Join(alien, ", "))
	}
	if err := os.WriteFile(d.mark(), nil, 0o600); err != nil {
		return err
	}
	for _, dir := range []string{d.ControlPlane(), d.Pods(), d.StandIns()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return d.removeAll(d.Ready(), d.Env())
}

// Exists tells whether the folder is a cluster's, running or not.
func (d Dir) Exists() bool {
	_, err := os.Stat(d.mark())
	return err == nil
}

func (d Dir) alien() ([]string, error) {
	known := map[string]bool{}
	for _, e := range d.entries() {
		known[filepath.Base(e)] = true
	}
	list, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list {
		if !known[e.Name()] {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Remove deletes what a cluster has put into the folder, and the folder when nothing else is in it.
func (d Dir) Remove() error {
	if err := d.removeAll(d.entries()...); err != nil {
		return err
	}
	err := os.Remove(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Finish deletes the data when the cluster's own process ends. Of a cluster in the background, which has a log here, the
// log and the process's file stay for whoever ends the cluster.
func (d Dir) Finish() error {
	if _, err := os.Stat(d.Log()); err != nil {
		return d.Remove()
	}
	return d.removeAll(d.Ready(), d.Env(), d.Kubeconfig(), d.Pods(), d.StandIns(), d.ControlPlane())
}

func (d Dir) removeAll(files ...string) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, os.RemoveAll(f))
	}
	return errors.Join(errs...)
}

// WriteEnv writes variables as a file that a shell can source.
func (d Dir) WriteEnv(env map[string]string) error {
	return os.WriteFile(d.Env(), []byte(Exports(env)), 0o600)
}

// Exports renders variables as export lines, in order of their names.
func Exports(env map[string]string) string {
	names := make([]string, 0, len(env))
	for n := range env {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "export %s='%s'\n", n, strings.ReplaceAll(env[n], "'", `'\''`))
	}
	return b.String()
}
