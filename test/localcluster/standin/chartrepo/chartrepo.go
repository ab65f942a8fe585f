// Package chartrepo plays a Helm chart repository: the charts of package charts, packed when it starts, and their
// index.yaml, over HTTP on a loopback port.
//
// Beside each chart's own version it serves a former one that differs in nothing but its number, so that version ranges
// have something to choose from. Archives are the same bytes in every run, so digests may be pinned. There are no
// signatures and there is no OCI registry.
package chartrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/mifbench/mifbench/test/localcluster/charts"
)

// Variable is the environment variable through which the repository's URL reaches a configuration's variable
// chart_repository.
const Variable = "MIFBENCH_VAR_chart_repository"

// Start packs the charts and serves them until ctx ends.
func Start(ctx context.Context, log func(format string, args ...any)) (map[string]string, error) {
	files, err := Build(charts.FS())
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("chart repository: %w", err)
	}
	srv := &http.Server{Handler: Handler(files), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log("chart repository ended: %v", err)
		}
	}()
	return map[string]string{Variable: "http://" + l.Addr().String()}, nil
}

// Handler serves files by name.
func Handler(files map[string][]byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path[1:]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(body))
	})
}

// Build returns the files of a repository: an archive for each chart directory and version, and index.yaml.
func Build(source fs.FS) (map[string][]byte, error) {
	dirs, err := fs.ReadDir(source, ".")
	if err != nil {
		return nil, fmt.Errorf("charts: %w", err)
	}
	files, index := map[string][]byte{}, newIndex()
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		c, err := read(source, d.Name())
		if err != nil {
			return nil, err
		}
		for _, version := range c.versions() {
			archive, meta, err := c.pack(version)
			if err != nil {
				return nil, err
			}
			name := fmt.Sprintf("%s-%s.tgz", c.name, version)
			files[name] = archive
			index.add(c.name, name, meta, archive)
		}
	}
	files["index.yaml"], err = index.yaml()
	return files, err
}
