package ecr

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Secrets is what this driver needs of the Kubernetes driver.
type Secrets interface {
	// Get reads an object as it is, nil when absent.
	Get(ctx context.Context, id resource.ID) (map[string]any, error)
	// Apply writes a manifest with the checks of ownership.
	Apply(ctx context.Context, r deploy.Request) (deploy.Result, error)
	Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error
	Delete(ctx context.Context, r deploy.Request) error
}

// DefaultMinValid is how long a token must still live not to be renewed. ECR tokens live 12 h;
// half of it leaves a benchmark of hours safe and keeps a second plan on the same day empty.
const DefaultMinValid = 6 * time.Hour

// Options configure the driver.
type Options struct {
	// Endpoint overrides the address of ECR; "" leaves it to the SDK, which reads
	// AWS_ENDPOINT_URL_ECR and AWS_ENDPOINT_URL.
	Endpoint string
	// DockerConfig is the file of mode docker_config when a block names none; "" means
	// $DOCKER_CONFIG/config.json, then ~/.docker/config.json.
	DockerConfig string
}

// Driver makes pull Secrets. It is safe for concurrent use.
type Driver struct {
	secrets Secrets
	options Options
	now     func() time.Time
}

var _ deploy.Driver = (*Driver)(nil)

// New returns a driver that writes through secrets.
func New(secrets Secrets, o Options) *Driver {
	return &Driver{secrets: secrets, options: o, now: time.Now}
}

// mode is one way to get a pull Secret.
type mode struct {
	name string
	// credential makes the registry's auth entry; nil when somebody else makes the Secret.
	credential func(d *Driver, ctx context.Context, s resource.CredentialSpec) (credential, error)
}

// modes is the table of modes.
func modes() []mode {
	return []mode{
		{resource.CredentialAWS, (*Driver).mint},
		{resource.CredentialDockerConfig, (*Driver).copyEntry},
		{resource.CredentialReplicated, nil},
	}
}

// credential is one registry's entry; its auth is base64 of user:password and never shown.
type credential struct {
	auth    string
	expires time.Time
}

func findMode(name string) mode {
	for _, m := range modes() {
		if m.name == name {
			return m
		}
	}
	panic("ecr: unknown mode " + name)
}

// spec decodes the object's Spec; a wrong shape is a kind's mistake and panics.
func spec(o *resource.Object) resource.CredentialSpec {
	var s resource.CredentialSpec
	text, err := json.Marshal(o.Spec)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(fmt.Sprintf("ecr: spec of %s: %v", o.ID, err))
	}
	return s
}

func secretID(id resource.ID) resource.ID {
	id.Driver, id.APIVersion, id.Kind = resource.DriverKube, "v1", "Secret"
	return id
}

// Apply implements deploy.Driver: it gets the credential and writes the Secret. A replicated
// Secret is left to its replicator.
func (d *Driver) Apply(ctx context.Context, r deploy.Request) (deploy.Result, error) {
	s := spec(r.Want)
	print := state.Fingerprint(r.Salt, r.Want.Spec)
	m := findMode(s.Mode)
	if m.credential == nil {
		return deploy.Result{Fingerprint: print, Facts: map[string]any{"mode": s.Mode, "registry": s.Registry}}, nil
	}
	c, err := m.credential(d, ctx, s)
	if err != nil {
		return deploy.Result{}, fmt.Errorf("%s: %w", r.Want.ID, err)
	}
	want := *r.Want
	want.ID = secretID(want.ID)
	want.Spec = manifest(want.ID, s.Registry, c)
	want.Sensitive = nil
	want.Options.ForceConflicts = true // the in-cluster refresher writes the same fields
	r.Want = &want
	r.Seen.Predicted = nil // the comparison was ours
	res, err := d.secrets.Apply(ctx, r)
	if err != nil {
		return res, err
	}
	res.Fingerprint = print
	res.Facts = facts(s, c.expires)
	return res, nil
}

func facts(s resource.CredentialSpec, expires time.Time) map[string]any {
	f := map[string]any{"mode": s.Mode, "registry": s.Registry}
	if !expires.IsZero() {
		f["expires"] = expires.UTC().Format(time.RFC3339)
	}
	return f
}

// Wait implements deploy.Driver: the Secret exists and holds the registry.
func (d *Driver) Wait(ctx context.Context, r deploy.Request, report func(plan.Readiness)) error {
	if r.Gone {
		if r.Want != nil && spec(r.Want).Mode == resource.CredentialReplicated || r.Prior != nil && r.Prior.Borrowed {
			return nil
		}
		return d.secrets.Wait(ctx, asSecret(r), report)
	}
	s := spec(r.Want)
	limit := r.Want.Options.CreateTimeout
	if limit == 0 {
		limit = 5 * time.Minute
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := ""
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		live, err := d.secrets.Get(bounded, secretID(r.Want.ID))
		verdict := ready(live, s)
		if err != nil {
			verdict = plan.Readiness{Reason: err.Error()}
		}
		if verdict.Ready {
			return nil
		}
		if bounded.Err() == nil && verdict.Reason != last {
			last = verdict.Reason
			if report != nil {
				report(verdict)
			}
		}
		select {
		case <-bounded.Done():
			return fmt.Errorf("%s: %w after %s: %s: %w", r.Want.ID, deploy.ErrNotReady, limit, last, bounded.Err())
		case <-time.After(pause):
		}
	}
}

// Delete implements deploy.Driver. A replicated Secret is its replicator's and stays.
func (d *Driver) Delete(ctx context.Context, r deploy.Request) error {
	if r.Prior != nil && (r.Prior.Borrowed || r.Prior.Facts["mode"] == resource.CredentialReplicated) {
		return nil
	}
	return d.secrets.Delete(ctx, asSecret(r))
}

// asSecret turns a request about a credential into one about its Secret.
func asSecret(r deploy.Request) deploy.Request {
	if r.Want != nil {
		want := *r.Want
		want.ID = secretID(want.ID)
		r.Want = &want
	}
	if r.Prior != nil {
		prior := *r.Prior
		prior.ID = secretID(prior.ID)
		r.Prior = &prior
	}
	return r
}
