package helm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/repo"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// pinned is a chart of one exact version and content. Helm changes charts while it renders
// them, so each use loads a fresh one.
type pinned struct {
	// version is the version as the chart writes it, with its v if it has one.
	name, version, digest, origin string
	load                          func() (*chart.Chart, error)
}

// charts resolves and keeps charts.
type charts struct {
	mu      sync.Mutex
	dir     string
	indexes map[string]*index
}

// index is one repository's index.yaml, read once.
type index struct {
	once sync.Once
	file *repo.IndexFile
	err  error
}

// pin is what a plan fixed of a chart; the zero value is a plan in the making.
type pin struct {
	version, digest string
}

// pinOf reads what the plan pinned.
func pinOf(facts map[string]any) pin {
	version, _ := facts["version"].(string)
	digest, _ := facts["digest"].(string)
	return pin{version, digest}
}

// resolve finds the chart that a spec names. A pin asks for exactly that content, wherever it
// comes from: the cache, or the pinned version in the source; other content is ErrChanged.
func (c *charts) resolve(ctx context.Context, s resource.ReleaseSpec, want pin) (pinned, error) {
	if want.version != "" {
		s.Version = want.version // a range may match something newer by now
	}
	p, err := c.find(ctx, s, want.digest)
	if err != nil {
		return p, fmt.Errorf("chart %s: %w", where(s), err)
	}
	if want.digest != "" && p.digest != want.digest {
		return p, fmt.Errorf("chart %s: %w: the plan saw content %s, its source now has %s; plan again", where(s), deploy.ErrChanged, want.digest, p.digest)
	}
	ch, err := p.load()
	if err != nil {
		return p, fmt.Errorf("chart %s: %w", where(s), err)
	}
	p.name, p.version = ch.Name(), ch.Metadata.Version
	if ch.Metadata.Type == "library" {
		return p, fmt.Errorf("chart %s is a library and cannot be installed", where(s))
	}
	if err := action.CheckDependencies(ch, ch.Metadata.Dependencies); err != nil {
		return p, fmt.Errorf("chart %s: %w; run `helm dependency build`", where(s), err)
	}
	return p, nil
}

func (c *charts) find(ctx context.Context, s resource.ReleaseSpec, digest string) (pinned, error) {
	if archive, ok := c.cached(digest); ok {
		return fromArchive(archive, digest, "cache"), nil
	}
	ref := s.Chart
	if strings.HasPrefix(s.Repository, "oci://") {
		ref = strings.TrimSuffix(s.Repository, "/") + "/" + s.Chart
	}
	switch {
	case strings.HasPrefix(ref, "oci://"):
		return c.fromRegistry(ctx, s, ref)
	case strings.HasPrefix(s.Repository, "http://"), strings.HasPrefix(s.Repository, "https://"):
		return c.fromRepository(ctx, s)
	case strings.HasPrefix(s.Chart, "http://"), strings.HasPrefix(s.Chart, "https://"):
		return c.download(ctx, s, s.Chart, "")
	}
	return fromPath(s)
}

func where(s resource.ReleaseSpec) string {
	text := shown(s.Chart)
	if s.Version != "" {
		text += " " + s.Version
	}
	if s.Repository != "" {
		text += " of " + shown(s.Repository)
	}
	return text
}

// shown is an address without what may be secret in it: user, password, query.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func fromArchive(archive []byte, digest, origin string) pinned {
	return pinned{digest: digest, origin: shown(origin), load: func() (*chart.Chart, error) {
		return loader.LoadArchive(bytes.NewReader(archive))
	}}
}

func sum(archive []byte) string {
	h := sha256.Sum256(archive)
	return "sha256:" + hex.EncodeToString(h[:])
}

// cached reads an archive from the cache and checks its content.
func (c *charts) cached(digest string) ([]byte, bool) {
	hash, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return nil, false
	}
	dir, err := c.folder()
	if err != nil {
		return nil, false
	}
	archive, err := os.ReadFile(filepath.Join(dir, filepath.Base(hash)+".tgz"))
	return archive, err == nil && sum(archive) == digest
}

// keep writes an archive to the cache; a cache that cannot be written is no failure, since the
// chart can be had again.
func (c *charts) keep(archive []byte) {
	dir, err := c.folder()
	if err != nil {
		return
	}
	name := filepath.Join(dir, strings.TrimPrefix(sum(archive), "sha256:")+".tgz")
	tmp, err := os.CreateTemp(dir, "chart-*")
	if err != nil {
		return
	}
	_, werr := tmp.Write(archive)
	if cerr := tmp.Close(); werr != nil || cerr != nil || os.Rename(tmp.Name(), name) != nil {
		_ = os.Remove(tmp.Name())
	}
}

// folder is the private cache folder, made when first needed.
func (c *charts) folder() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			base = os.TempDir()
		}
		c.dir = filepath.Join(base, "mifbench", "charts")
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", fmt.Errorf("chart cache: %w", err)
	}
	return c.dir, nil
}
