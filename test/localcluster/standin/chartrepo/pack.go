package chartrepo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// chart is a chart directory in memory.
type chart struct {
	name  string
	meta  map[string]any    // Chart.yaml
	files map[string][]byte // the other files by path in the directory
}

func read(source fs.FS, dir string) (*chart, error) {
	c := &chart{name: dir, files: map[string][]byte{}}
	err := fs.WalkDir(source, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(source, p)
		c.files[strings.TrimPrefix(p, dir+"/")] = body
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", dir, err)
	}
	if err := yaml.UnmarshalStrict(c.files["Chart.yaml"], &c.meta); err != nil {
		return nil, fmt.Errorf("chart %s: Chart.yaml: %w", dir, err)
	}
	if c.meta["name"] != dir {
		return nil, fmt.Errorf("chart %s: Chart.yaml says name %v", dir, c.meta["name"])
	}
	delete(c.files, "Chart.yaml")
	return c, nil
}

// versions returns the chart's own version and the former ones that are served beside it.
func (c *chart) versions() []string {
	own := fmt.Sprint(c.meta["version"])
	former := map[string][]string{"heimdall": {"v0.7.0"}}[c.name]
	return append([]string{own}, former...)
}

// pack makes the archive that `helm package` would make of the chart under a version: all below a directory of the
// chart's name, Chart.yaml first.
func (c *chart) pack(version string) (archive []byte, meta map[string]any, err error) {
	meta = map[string]any{}
	for k, v := range c.meta {
		meta[k] = v
	}
	meta["version"], meta["appVersion"] = version, version
	head, err := yaml.Marshal(meta)
	if err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	tw := tar.NewWriter(zip)
	names := make([]string, 0, len(c.files))
	for n := range c.files {
		names = append(names, n)
	}
	slices.Sort(names)
	err = write(tw, path.Join(c.name, "Chart.yaml"), head)
	for _, n := range names {
		if err == nil {
			err = write(tw, path.Join(c.name, n), c.files[n])
		}
	}
	if err == nil {
		err = tw.Close()
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("pack chart %s: %w", c.name, err)
	}
	return out.Bytes(), meta, nil
}

// packed is the modification time of everything in an archive: a constant keeps the digest constant.
func packed() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func write(tw *tar.Writer, name string, body []byte) error {
	h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(body)), ModTime: packed(), Typeflag: tar.TypeReg}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := tw.Write(body)
	return err
}
