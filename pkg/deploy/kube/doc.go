// Package kube is the driver of Kubernetes objects: server-side apply with a
// dry-run diff against live, readiness by a rule per kind, deletion that waits.
//
// It owns only the fields that the author wrote (field manager "mifbench"),
// marks every object with the annotation mifbench.dev/stack and touches nothing
// that carries another stack's mark. Secrets are masked here, where the two sides
// of the diff are made, and nowhere later.
//
// Failures of the world are wrapped errors that name the object, the server or
// the field and answer errors.Is with the sentinels of package deploy. The package
// decides nothing: what to change is the plan's matter.
package kube
