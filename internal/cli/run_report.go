package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mifbench/mifbench/internal/runner"
	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/report"
	"github.com/mifbench/mifbench/pkg/config"
)

// kept are the formats that every run folder gets.
func kept() []string { return []string{"csv", "html", "json", "markdown", "text"} }

// report prints the results and leaves every kept format in the folder.
func (a *app) report(folder *runner.Folder, results []result) error {
	if len(results) == 0 {
		return nil
	}
	data := reportData(folder.Manifest(), results)
	for _, name := range kept() {
		if err := writeReport(filepath.Join(folder.Path(), "report"), name, data); err != nil {
			return err
		}
	}
	for _, r := range results {
		one := data
		one.Results = []report.Result{r.Report}
		for _, name := range []string{"vllm", "vllm-json"} {
			if err := writeReport(filepath.Join(r.Dir, name), name, one); err != nil {
				return err
			}
		}
	}
	data.Title = ""
	if err := report.Table(a.env.Stdout, data); err != nil {
		return err
	}
	a.say("\nEverything is kept in %s; report.html there has the plots. mifbench report %s prints it again, in any format and window.", folder.Path(), folder.Path())
	return nil
}

// printResult shows one scenario as soon as it is done.
func (a *app) printResult(r result) error {
	return report.Text(a.env.Stdout, report.Data{Results: []report.Result{r.Report}})
}

func reportData(m runner.Manifest, results []result) report.Data {
	data := report.Data{Title: m.ID, Stack: m.Stack, Tool: "mifbench " + m.Tool, Generated: time.Now().UTC(), Provenance: map[string]string{}}
	for k, v := range m.Provenance {
		data.Provenance[k] = fmt.Sprint(v)
	}
	for _, r := range results {
		data.Results = append(data.Results, r.Report)
		if r.Plan.View != metrics.ViewMifbench {
			data.View = r.Plan.View
		}
	}
	return data
}

func writeReport(base, name string, data report.Data) (err error) {
	format, err := report.ByName(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(base+format.Extension, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return format.Write(f, data)
}

// verdict is exit code 3 when a result misses its reference or SLO.
func verdict(results []result) error {
	for _, r := range results {
		if len(r.Report.Missed()) > 0 {
			return quiet(exitMissed)
		}
	}
	return nil
}

// provenance is what a reader needs to repeat a run; sensitive values are left out.
func provenance(cfg *config.Config, t *site) map[string]any {
	p := map[string]any{"configuration sha256": cfg.Hash, "mifbench": Version, "revision": revision()}
	for _, v := range cfg.Variables {
		if !v.Sensitive {
			p["var."+v.Name] = fmt.Sprintf("%s (%s)", valueText(v.Value), v.Source)
		}
	}
	if len(t.endpoints) > 0 {
		p["endpoint"] = strings.Join(t.endpoints, " ")
	}
	if t.stack != nil {
		p["cluster"] = fmt.Sprintf("%s at %s, Kubernetes %s, %s", t.stack.cluster.Context, t.stack.cluster.Server, t.stack.cluster.Version, t.stack.cluster.ID)
		for _, e := range t.stack.prior.Entries {
			for _, fact := range []string{"version", "digest"} {
				if v, ok := e.Facts[fact]; ok {
					p[e.Address.String()+" "+fact] = v
				}
			}
		}
		for _, pod := range t.pods {
			p["pod "+pod.Name] = fmt.Sprintf("node %s, uid %s, images %v", pod.Node, pod.UID, pod.Images)
		}
	}
	return p
}
