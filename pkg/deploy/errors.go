package deploy

import "errors"

// Sentinels that drivers wrap, so that the engine and the CLI can tell classes apart.
var (
	ErrNotReady  = errors.New("not ready")
	ErrChanged   = errors.New("changed since the plan was made")
	ErrConflict  = errors.New("field owned by another manager")
	ErrNotOurs   = errors.New("exists and is not ours")
	ErrForbidden = errors.New("forbidden")
	ErrNoKind    = errors.New("kind not served by the cluster")
)
