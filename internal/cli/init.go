package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/examples"
)

// starter is a row of the table of starters: those of the examples that init writes.
type starter struct {
	name, doc string
	next      string // what to do after init
}

func starters() []starter {
	return []starter{
		{"deepseek-r1-mi300x", "the published benchmark: DeepSeek-R1 on 5 nodes of 8 MI300X", `  1. Put the values of your site into site.auto.mifvars:
       model_path   = "/path/on/every/node/to/DeepSeek-R1"
       client_node  = "node-that-holds-the-datasets"
       dataset_root = "/directory/of/the/datasets"
       kube_context = "context-of-your-kubeconfig"
  2. mifbench validate
  3. mifbench plan`},
		{"endpoint", "a benchmark of a server that is already there: no cluster, no state", `  1. mifbench validate --var text=/directory/of/texts
  2. mifbench run --endpoint http://host:port --var text=/directory/of/texts`},
		{"prerequisites", "what the published benchmark expects of a cluster, for an empty one", `  1. Fetch standard-install.yaml of Gateway API v1.5.1 and manifests.yaml of its Inference Extension v1.4.0, and name
     the two files in site.auto.mifvars:
       gateway_api_crds         = "standard-install.yaml"
       inference_extension_crds = "manifests.yaml"
  2. mifbench plan && mifbench apply
  3. The benchmark: mifbench init --from deepseek-r1-mi300x, in another directory`},
		{"rehearsal", "the published benchmark in small, on the local control plane", `  1. Start the local control plane (make cluster-up in a checkout) and source the file "env" that it names
  2. mifbench validate
  3. mifbench plan`},
	}
}

const defaultStarter = "deepseek-r1-mi300x"

func (a *app) initCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "init [DIRECTORY]",
		Short: "Write a starter configuration",
		Long: "Writes a starter configuration into a directory, that of --chdir when none is given. It\n" +
			"overwrites nothing. The starters:\n\n" + starterList(),
		Example: `  mifbench init bench
  mifbench init --from endpoint`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.chdir
			if len(args) == 1 {
				dir = filepath.Join(a.chdir, args[0])
				if filepath.IsAbs(args[0]) {
					dir = args[0]
				}
			}
			return a.initialise(dir, from)
		},
	}
	cmd.Flags().StringVar(&from, "from", defaultStarter, "name of the starter")
	return cmd
}

func starterList() string {
	var lines []string
	for _, s := range starters() {
		lines = append(lines, fmt.Sprintf("  %-20s %s", s.name, s.doc))
	}
	return strings.Join(lines, "\n")
}

func (a *app) initialise(dir, name string) error {
	s, ok := findStarter(name)
	if !ok {
		return fmt.Errorf("there is no starter %q; there are:\n%s", name, starterList())
	}
	files, err := examples.Files.ReadDir(name)
	if err != nil {
		return err
	}
	if err := vacant(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		src, err := examples.Files.ReadFile(name + "/" + f.Name())
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(dir, f.Name()), src); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.env.Stdout, filepath.ToSlash(filepath.Join(dir, f.Name()))); err != nil {
			return err
		}
	}
	a.say("\nThis is %s, %s.\nNext:\n%s", s.name, s.doc, s.next)
	return nil
}

func findStarter(name string) (starter, bool) {
	for _, s := range starters() {
		if s.name == name {
			return s, true
		}
	}
	return starter{}, false
}

// vacant refuses a directory that holds a configuration: two would be read as one.
func vacant(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.mif.hcl"))
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s already holds a configuration (%s); nothing was written: name another directory", dir, filepath.Base(found[0]))
	}
	return nil
}

func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
