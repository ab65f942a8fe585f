package helm

import (
	"context"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Record is the newest revision of a release, as Helm's storage tells it.
type Record struct {
	Revision int
	// Status is Helm's: deployed, failed, pending-install, uninstalling …
	Status         string
	Chart, Version string
	// About is the chart's description.
	About string
	// Stack is the stack that made it, "" for none.
	Stack   string
	Updated time.Time
}

// Record reads a release's newest revision; nil when there is none.
func (d *Driver) Record(ctx context.Context, namespace, name string) (*Record, error) {
	id := resource.ID{Driver: resource.DriverHelm, APIVersion: APIVersion, Kind: Kind, Namespace: namespace, Name: name}
	cfg, err := d.cluster.action(ctx, namespace)
	if err != nil {
		return nil, err
	}
	k, err := history(cfg, id)
	if err != nil || k.last == nil {
		return nil, err
	}
	r := &Record{Revision: k.last.Version, Stack: k.last.Labels[stackLabel]}
	if k.last.Info != nil {
		r.Status, r.Updated = k.last.Info.Status.String(), k.last.Info.LastDeployed.Time
	}
	if k.last.Chart != nil && k.last.Chart.Metadata != nil {
		m := k.last.Chart.Metadata
		r.Chart, r.Version, r.About = m.Name, m.Version, m.Description
	}
	return r, nil
}
