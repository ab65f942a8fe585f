package cli

import (
	"encoding/json"
	"fmt"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/config/diagnostic"
)

// checkFormat is the version of the form that check --json prints: a part that is only added to
// leaves the first number as it is.
const checkFormat = "1.0"

type checkReport struct {
	FormatVersion string        `json:"format_version"`
	Stack         string        `json:"stack,omitempty"`
	Cluster       *checkCluster `json:"cluster"`
	// Valid is true when there is no error and the cluster answered.
	Valid        bool            `json:"valid"`
	ErrorCount   int             `json:"error_count"`
	WarningCount int             `json:"warning_count"`
	Failures     []string        `json:"failures"`
	Checks       []checkEntry    `json:"checks"`
	Diagnostics  json.RawMessage `json:"diagnostics"`
}

type checkCluster struct {
	Context string `json:"context"`
	Server  string `json:"server"`
	Version string `json:"version"`
	UID     string `json:"uid"`
	CA      string `json:"ca,omitempty"`
}

type checkEntry struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	// Where is "offline" or "cluster".
	Where    string       `json:"where"`
	Status   check.Status `json:"status"`
	Findings int          `json:"findings"`
	Seen     []string     `json:"seen,omitempty"`
	Skipped  []string     `json:"skipped,omitempty"`
}

func (a *app) checkJSON(cfg *config.Config, x examination) error {
	out := checkReport{FormatVersion: checkFormat, Failures: []string{}, Checks: []checkEntry{}}
	text, err := diagnostic.JSON(cfg.Files, x.diags)
	if err != nil {
		return err
	}
	// The diagnostics have the form of validate --json: its other members are taken over.
	if err := json.Unmarshal(text, &out); err != nil {
		return fmt.Errorf("diagnostics as JSON: %w", err)
	}
	out.FormatVersion, out.Stack = checkFormat, cfg.Stack
	if s := x.stack; s != nil {
		out.Cluster = &checkCluster{Context: s.cluster.Context, Server: s.cluster.Server, Version: s.cluster.Version, UID: s.cluster.ID.UID, CA: s.cluster.ID.CA}
	}
	out.Failures = append(out.Failures, x.failures...)
	out.Valid = out.Valid && len(x.failures) == 0
	for _, r := range x.results {
		where := "offline"
		if r.Cluster {
			where = "cluster"
		}
		out.Checks = append(out.Checks, checkEntry{
			Code: r.Code, Title: r.Title, Where: where, Status: r.Status, Findings: len(r.Diagnostics), Seen: r.Seen, Skipped: r.Skipped,
		})
	}
	if err := a.printJSON(out); err != nil {
		return err
	}
	if !out.Valid {
		return quiet(exitFailed)
	}
	return nil
}
