package cli

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/internal/cli/view"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// known are attributes that only the cluster can give, by block.
type known map[resource.Address]map[string]cty.Value

// load reads the configuration. Diagnostics are printed here; the error says only that
// there were mistakes.
func (a *app) load(vars []config.VarArg, k known) (*config.Config, error) {
	cfg, diags := a.read(vars, k)
	if err := a.diagnose(cfg, diags); err != nil {
		return nil, err
	}
	return cfg, nil
}

// read is load without printing.
func (a *app) read(vars []config.VarArg, k known) (*config.Config, hcl.Diagnostics) {
	return config.Load(a.chdir, config.Options{
		Kinds:   kinds.All(),
		Vars:    vars,
		Env:     func() []string { return a.env.Environ },
		Known:   k,
		Version: Version,
	})
}

// diagnose prints diagnostics and fails when one is an error.
func (a *app) diagnose(cfg *config.Config, diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	var files map[string]*hcl.File
	if cfg != nil {
		files = cfg.Files
	}
	a.found, a.files = append(a.found, diags...), files
	style := a.style()
	if err := diagnostic.WriteText(a.env.Stderr, files, diags, diagnostic.Style{Width: style.Width, Color: style.Color}); err != nil {
		return err
	}
	if diags.HasErrors() {
		return quiet(exitFailed)
	}
	return nil
}

// diagnosed is the list of everything that diagnose has said, as JSON.
func (a *app) diagnosed() (json.RawMessage, error) {
	text, err := diagnostic.JSON(a.files, a.found)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("diagnostics as JSON: %w", err)
	}
	return doc.Diagnostics, nil
}

// style is how the conversation is written.
func (a *app) style() view.Style {
	color := view.ColorWanted(a.env.StderrIsTTY, a.noColor, a.env.lookup)
	return view.Style{Out: a.env.Stdout, Err: a.env.Stderr, Color: color, TTY: a.env.StderrIsTTY, Width: a.env.Width}
}

// outStyle is how a result on stdout is written.
func (a *app) outStyle() view.Style {
	s := a.style()
	s.Color = view.ColorWanted(a.env.StdoutIsTTY, a.noColor, a.env.lookup)
	return s
}

// say writes one line of the conversation.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.env.Stderr, format+"\n", args...)
}
