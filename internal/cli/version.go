package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is the release that this source becomes.
const Version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  mifbench version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(a.env.Stdout).Encode(map[string]string{
					"version": Version, "revision": revision(), "go": runtime.Version(), "platform": platform(),
				})
			}
			_, err := fmt.Fprintf(a.env.Stdout, "mifbench v%s\non %s\n", Version, platform())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// revision is the commit that the binary was built from, "" when the build did not say.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
