package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"

	"github.com/mifbench/mifbench/pkg/resource"
)

// fromPath takes a directory, a .tgz, or a folder of charts.
func fromPath(s resource.ReleaseSpec) (pinned, error) {
	path := s.Repository
	if path == "" {
		path = s.Chart
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() && s.Repository != "" {
		if path, err = inFolder(s); err != nil {
			return pinned{}, err
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return pinned{}, fmt.Errorf("neither a repository URL nor a readable path: %w", err)
	}
	var p pinned
	if info.IsDir() {
		p, err = fromDirectory(path)
	} else {
		var archive []byte
		if archive, err = os.ReadFile(path); err == nil {
			p = fromArchive(archive, sum(archive), path)
		}
	}
	if err != nil {
		return pinned{}, err
	}
	ch, err := p.load()
	if err != nil {
		return pinned{}, err
	}
	return p, satisfies(ch.Metadata.Version, s.Version)
}

// inFolder is the chart of a name in a folder: the folder itself, what has that name in it, or the newest
// of its archives (as `helm pull` and `helm package` name them) with a version that is asked for.
func inFolder(s resource.ReleaseSpec) (string, error) {
	if _, err := os.Stat(filepath.Join(s.Repository, chartutil.ChartfileName)); err == nil {
		return s.Repository, nil
	}
	if path := filepath.Join(s.Repository, s.Chart); s.Chart != "" {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	archives, err := filepath.Glob(filepath.Join(escaped(s.Repository), escaped(s.Chart)+"-*.tgz"))
	if err != nil {
		return "", err
	}
	list := repo.NewIndexFile()
	for _, path := range archives {
		ch, err := loader.LoadFile(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if err := list.MustAdd(ch.Metadata, path, "", ""); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	list.SortEntries()
	if len(list.Entries[s.Chart]) == 0 {
		return "", fmt.Errorf("%s has no chart %s: neither a directory of that name nor an archive %s-VERSION.tgz", s.Repository, s.Chart, s.Chart)
	}
	v, err := list.Get(s.Chart, s.Version)
	if err != nil {
		return "", fmt.Errorf("%s: no version satisfies %q; the newest are %s", s.Repository, s.Version, newest(list.Entries[s.Chart]))
	}
	return v.URLs[0], nil
}

// escaped takes the special meaning from a path's characters.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// satisfies checks the version of a chart that was not chosen by version.
func satisfies(have, want string) error {
	if want == "" || have == want {
		return nil
	}
	limits, err := semver.NewConstraint(want)
	if err != nil {
		return fmt.Errorf("version %q is neither a version nor a range: %w", want, err)
	}
	v, err := semver.NewVersion(have)
	if err != nil || !limits.Check(v) {
		return fmt.Errorf("it has version %s, the block wants %s", have, want)
	}
	return nil
}

// fromDirectory hashes names and contents of the files that belong to the chart, in order.
func fromDirectory(path string) (pinned, error) {
	ch, err := loader.LoadDir(path)
	if err != nil {
		return pinned{}, err
	}
	files := append([]*chart.File{}, ch.Raw...)
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d ", len(f.Name), f.Name, len(f.Data)) //nolint:errcheck // a hash does not fail
		h.Write(f.Data)
	}
	digest := "dir:" + hex.EncodeToString(h.Sum(nil))
	return pinned{digest: digest, origin: path, load: func() (*chart.Chart, error) { return loader.LoadDir(path) }}, nil
}
