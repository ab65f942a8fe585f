package helm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/resource"
)

// rollbackTimeout bounds the way back of an atomic release, whose own time may be up.
const rollbackTimeout = 5 * time.Minute

// rollBack undoes a failed install or upgrade of an atomic release and adds to the failure what
// became of it. Helm's own atomic mode is not used: it waits by its own rules and says only that
// time is up. An interrupt by the user is no failure of the release.
func (d *Driver) rollBack(ctx context.Context, id resource.ID, failure error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	cfg, err := d.cluster.action(ctx, id.Namespace)
	if err != nil {
		return errors.Join(failure, err)
	}
	good, err := lastGood(cfg, id.Name)
	switch {
	case err != nil:
		return errors.Join(failure, fmt.Errorf("%s: roll back: %w", id, err))
	case good == 0:
		return d.undoInstall(ctx, cfg, id, failure)
	}
	a := action.NewRollback(cfg)
	a.Version, a.Timeout, a.MaxHistory = good, rollbackTimeout, historyLimit
	if err := a.Run(id.Name); err != nil {
		return errors.Join(failure, fmt.Errorf("%s: roll back to revision %d: %w", id, good, err))
	}
	return fmt.Errorf("%w; rolled back to revision %d (atomic = true)", failure, good)
}

func (d *Driver) undoInstall(ctx context.Context, cfg *action.Configuration, id resource.ID, failure error) error {
	k, err := history(cfg, id)
	if err != nil {
		return errors.Join(failure, err)
	}
	if k.last == nil {
		return failure // it failed before anything was recorded
	}
	if err := d.remove(ctx, cfg, id, k.last, rollbackTimeout); err != nil {
		return errors.Join(failure, fmt.Errorf("roll back: %w", err))
	}
	return fmt.Errorf("%w; uninstalled again (atomic = true)", failure)
}

// lastGood is the newest revision before the last that was deployed, 0 for none.
func lastGood(cfg *action.Configuration, name string) (int, error) {
	all, err := cfg.Releases.History(name)
	if err != nil && !isNoRelease(err) {
		return 0, err
	}
	last, good := 0, 0
	for _, r := range all {
		last = max(last, r.Version)
	}
	for _, r := range all {
		if r.Version < last && (r.Info.Status == release.StatusSuperseded || r.Info.Status == release.StatusDeployed) {
			good = max(good, r.Version)
		}
	}
	return good, nil
}
