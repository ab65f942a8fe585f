// Package provision lays mifbench beside the scripts that it replaces: `helm upgrade --install` and
// `kubectl apply --server-side` of the same objects on the same API server, in wall-clock time and in
// requests. It is a measurement, run by `make bench-provision`; the bound on a plan's requests is a test.
package provision
