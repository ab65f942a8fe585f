package helm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/repo"

	"github.com/mifbench/mifbench/pkg/resource"
)

const (
	downloadTimeout = 2 * time.Minute
	maxIndex        = 64 << 20
	maxArchive      = 64 << 20
)

// fromRepository resolves a version (or range) against index.yaml and downloads the archive.
func (c *charts) fromRepository(ctx context.Context, s resource.ReleaseSpec) (pinned, error) {
	file, err := c.index(ctx, s)
	if err != nil {
		return pinned{}, err
	}
	if len(file.Entries[s.Chart]) == 0 {
		names := make([]string, 0, len(file.Entries))
		for n := range file.Entries {
			names = append(names, n)
		}
		return pinned{}, fmt.Errorf("the repository has no such chart%s", suggest(s.Chart, names))
	}
	v, err := file.Get(s.Chart, s.Version)
	if err != nil {
		return pinned{}, fmt.Errorf("no version satisfies %q; the newest are %s", s.Version, newest(file.Entries[s.Chart]))
	}
	if len(v.URLs) == 0 {
		return pinned{}, fmt.Errorf("version %s has no URL in the index", v.Version)
	}
	address, err := repo.ResolveReferenceURL(s.Repository, v.URLs[0])
	if err != nil {
		return pinned{}, fmt.Errorf("version %s: %w", v.Version, err)
	}
	if digest := withAlgorithm(v.Digest); digest != "" {
		if archive, ok := c.cached(digest); ok {
			return fromArchive(archive, digest, address), nil
		}
	}
	if strings.HasPrefix(address, "oci://") {
		return c.pull(ctx, s, strings.TrimSuffix(address, ":"+v.Version), v.Version)
	}
	return c.download(ctx, s, address, withAlgorithm(v.Digest))
}

func withAlgorithm(digest string) string {
	if digest == "" || strings.HasPrefix(digest, "sha256:") {
		return digest
	}
	return "sha256:" + digest
}

func newest(list repo.ChartVersions) string {
	var out []string
	for _, v := range list[:min(5, len(list))] {
		out = append(out, v.Version)
	}
	return strings.Join(out, ", ")
}

func (c *charts) download(ctx context.Context, s resource.ReleaseSpec, address, digest string) (pinned, error) {
	archive, err := get(ctx, s, address, maxArchive)
	if err != nil {
		return pinned{}, err
	}
	if digest != "" && sum(archive) != digest {
		return pinned{}, fmt.Errorf("%s: the archive has digest %s, the index says %s", shown(address), sum(archive), digest)
	}
	c.keep(archive)
	return fromArchive(archive, sum(archive), address), nil
}

// index reads a repository's index once in the life of the driver.
func (c *charts) index(ctx context.Context, s resource.ReleaseSpec) (*repo.IndexFile, error) {
	key := s.Username + "@" + s.Repository
	c.mu.Lock()
	x := c.indexes[key]
	if x == nil {
		x = &index{}
		c.indexes[key] = x
	}
	c.mu.Unlock()
	x.once.Do(func() { x.file, x.err = c.readIndex(ctx, s) })
	if x.err != nil {
		c.mu.Lock()
		delete(c.indexes, key)
		c.mu.Unlock()
	}
	return x.file, x.err
}

func (c *charts) readIndex(ctx context.Context, s resource.ReleaseSpec) (*repo.IndexFile, error) {
	text, err := get(ctx, s, strings.TrimSuffix(s.Repository, "/")+"/index.yaml", maxIndex)
	if err != nil {
		return nil, err
	}
	dir, err := c.folder()
	if err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(dir, "index-*.yaml")
	if err != nil {
		return nil, fmt.Errorf("chart cache: %w", err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a leftover in the private cache harms nobody
	_, werr := tmp.Write(text)
	if err := errors.Join(werr, tmp.Close()); err != nil {
		return nil, fmt.Errorf("chart cache: %w", err)
	}
	file, err := repo.LoadIndexFile(tmp.Name())
	if err != nil {
		return nil, fmt.Errorf("index.yaml: %w", err)
	}
	return file, nil
}

// get fetches a URL; the credentials go to the repository's own host only.
func get(ctx context.Context, s resource.ReleaseSpec, address string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(address), err)
	}
	req.Header.Set("User-Agent", "mifbench")
	if home, err := url.Parse(s.Repository); s.Username != "" && (err != nil || s.Repository == "" || home.Host == req.URL.Host) {
		req.SetBasicAuth(s.Username, s.Password)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s%s", shown(address), res.Status, authHint(res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(address), err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", shown(address), limit)
	}
	return body, nil
}

func authHint(code int) string {
	if code == http.StatusUnauthorized || code == http.StatusForbidden {
		return "; set username and password"
	}
	return ""
}

// suggest names the nearest of the known names, or all when there are few.
func suggest(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	sort.Strings(known)
	if len(known) == 0 {
		return ""
	}
	return "; it has " + strings.Join(known[:min(20, len(known))], ", ")
}
