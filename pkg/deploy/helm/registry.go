package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"helm.sh/helm/v3/pkg/helmpath"
	"helm.sh/helm/v3/pkg/registry"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/mifbench/mifbench/pkg/resource"
)

// maxManifest bounds the manifest of a chart in a registry; the OCI specification wants registries
// to take four times as much.
const maxManifest = 1 << 20

// fromRegistry takes a version as written when the registry has such a tag, else it chooses among
// the tags. Helm's own client is not used: it takes no context, and it overlooks tags with a v.
func (c *charts) fromRegistry(ctx context.Context, s resource.ReleaseSpec, ref string) (pinned, error) {
	if _, err := semver.NewVersion(s.Version); err == nil && strings.Count(s.Version, ".") >= 2 {
		p, err := c.pull(ctx, s, ref, s.Version)
		if !absentTag(err) {
			return p, err
		}
	}
	repository, err := openRepository(s, ref)
	if err != nil {
		return pinned{}, err
	}
	var tags []string
	err = repository.Tags(ctx, "", func(page []string) error {
		tags = append(tags, page...)
		return nil
	})
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		return pinned{}, fmt.Errorf("the registry has no such chart (%w)", err)
	}
	if err != nil {
		return pinned{}, fmt.Errorf("tags of %s: %w%s", ref, err, registryHint(err))
	}
	version, err := choose(tags, s.Version)
	if err != nil {
		return pinned{}, fmt.Errorf("%s: %w", ref, err)
	}
	return c.pull(ctx, s, ref, version)
}

// choose finds the newest tag that satisfies a range, "" for any release. Tags that are no versions
// do not count; a tag's underscore is a version's plus sign.
func choose(tags []string, want string) (string, error) {
	limits, err := semver.NewConstraint(anyVersion(want))
	if err != nil {
		return "", fmt.Errorf("version %q is neither a version nor a range: %w", want, err)
	}
	var known []*semver.Version
	for _, t := range tags {
		if v, err := semver.NewVersion(strings.ReplaceAll(t, "_", "+")); err == nil {
			known = append(known, v)
		}
	}
	sort.Sort(sort.Reverse(semver.Collection(known)))
	var names []string
	for _, v := range known {
		if limits.Check(v) {
			return v.Original(), nil
		}
		names = append(names, v.Original())
	}
	if len(names) == 0 {
		return "", errors.New("the registry has no version of this chart")
	}
	return "", fmt.Errorf("no version satisfies %q; the newest are %s", want, strings.Join(names[:min(5, len(names))], ", "))
}

func anyVersion(want string) string {
	if want == "" {
		return "*"
	}
	return want
}

// pull fetches the archive of one version; its content is checked against the manifest's digest.
func (c *charts) pull(ctx context.Context, s resource.ReleaseSpec, ref, version string) (pinned, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	repository, err := openRepository(s, ref)
	if err != nil {
		return pinned{}, err
	}
	tag := strings.ReplaceAll(version, "+", "_")
	head, text, err := fetchManifest(ctx, repository, tag)
	if err != nil {
		return pinned{}, fmt.Errorf("pull %s:%s: %w%s", ref, tag, err, registryHint(err))
	}
	layer, err := chartLayer(text)
	if err != nil {
		return pinned{}, fmt.Errorf("pull %s:%s: %w", ref, tag, err)
	}
	if archive, ok := c.cached(layer.Digest.String()); ok {
		return fromArchive(archive, layer.Digest.String(), ref+"@"+head.Digest.String()), nil
	}
	archive, err := content.FetchAll(ctx, repository, layer)
	if err != nil {
		return pinned{}, fmt.Errorf("pull %s:%s: %w", ref, tag, err)
	}
	c.keep(archive)
	return fromArchive(archive, sum(archive), ref+"@"+head.Digest.String()), nil
}

func fetchManifest(ctx context.Context, r *remote.Repository, tag string) (ocispec.Descriptor, []byte, error) {
	head, body, err := r.FetchReference(ctx, tag)
	if err != nil {
		return head, nil, err
	}
	defer body.Close() //nolint:errcheck // read only
	if head.Size > maxManifest {
		return head, nil, fmt.Errorf("its manifest has %d bytes", head.Size)
	}
	text, err := content.ReadAll(body, head)
	return head, text, err
}

// chartLayer is the descriptor of the archive inside a manifest.
func chartLayer(manifest []byte) (ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("its manifest is not JSON: %w", err)
	}
	i := slices.IndexFunc(m.Layers, func(d ocispec.Descriptor) bool {
		return d.MediaType == registry.ChartLayerMediaType || d.MediaType == registry.LegacyChartLayerMediaType
	})
	switch {
	case i < 0:
		return ocispec.Descriptor{}, fmt.Errorf("it is no Helm chart (its configuration is %s)", m.Config.MediaType)
	case m.Layers[i].Size > maxArchive:
		return ocispec.Descriptor{}, fmt.Errorf("the archive is larger than %d bytes", maxArchive)
	}
	return m.Layers[i], nil
}

// openRepository sends nothing. Without credentials in the block those of `helm registry login`
// and `docker login` are used; a block's own go to the registry's host only.
func openRepository(s resource.ReleaseSpec, ref string) (*remote.Repository, error) {
	r, err := remote.NewRepository(strings.TrimPrefix(ref, "oci://"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	r.PlainHTTP = loopback(ref)
	client := &auth.Client{Client: retry.DefaultClient, Header: http.Header{"User-Agent": {"mifbench"}}}
	if s.Username != "" {
		client.Credential = auth.StaticCredential(r.Reference.Registry, auth.Credential{Username: s.Username, Password: s.Password})
	} else if store := loggedIn(); store != nil {
		client.Credential = credentials.Credential(store)
	}
	r.Client = client
	return r, nil
}

// loggedIn reads the credentials that the user has stored; nil for none. Files that cannot be read
// are no failure: most registries of charts are public, and the others answer 401.
func loggedIn() credentials.Store {
	var stores []credentials.Store
	if s, err := credentials.NewStore(helmpath.ConfigPath(registry.CredentialsFileBasename), credentials.StoreOptions{}); err == nil {
		stores = append(stores, s)
	}
	if s, err := credentials.NewStoreFromDocker(credentials.StoreOptions{}); err == nil {
		stores = append(stores, s)
	}
	if len(stores) == 0 {
		return nil
	}
	return credentials.NewStoreWithFallbacks(stores[0], stores[1:]...)
}

func absentTag(err error) bool { return errors.Is(err, errdef.ErrNotFound) }

func registryHint(err error) string {
	var answer *errcode.ErrorResponse
	switch {
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return authHint(http.StatusUnauthorized)
	case errors.As(err, &answer):
		return authHint(answer.StatusCode)
	}
	return ""
}

// loopback registries speak plain HTTP, as docker's do.
func loopback(ref string) bool {
	u, err := url.Parse(ref)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
