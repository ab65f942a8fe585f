package deploy

import (
	"errors"
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Sentinels that drivers wrap, so that the engine and the CLI can tell classes apart.
var (
	ErrNotReady  = errors.New("not ready")
	ErrChanged   = errors.New("changed since the plan was made")
	ErrConflict  = errors.New("field owned by another manager")
	ErrNotOurs   = errors.New("exists and is not ours")
	ErrForbidden = errors.New("forbidden")
	ErrNoKind    = errors.New("kind not served by the cluster")
)

// Sentinels of the engine.
var (
	// ErrInterrupted means that not everything was started or waited for, since the user asked to stop.
	ErrInterrupted = errors.New("interrupted")
	// ErrUnsaved means that the world moved and the state file did not: the outcome's State holds it.
	ErrUnsaved = errors.New("state could not be saved")
	// ErrUntouched means that the run ended before it changed anything.
	ErrUntouched = errors.New("nothing was changed")
	// ErrRemains means that destroy ended and objects of the stack are still there.
	ErrRemains = errors.New("objects of the stack remain")
)

// ObjectError is a failure at one object of a plan.
type ObjectError struct {
	Address resource.Address
	ID      resource.ID
	// Doing is what was tried: "observe", "create", "wait for" …
	Doing string
	Err   error
}

// Error names the block, the object and what was tried.
func (e *ObjectError) Error() string {
	if e.Address == (resource.Address{}) {
		return fmt.Sprintf("%s %s: %v", e.Doing, e.ID, e.Err)
	}
	return fmt.Sprintf("%s: %s %s: %v", e.Address, e.Doing, e.ID, e.Err)
}

// Unwrap is the cause.
func (e *ObjectError) Unwrap() error { return e.Err }
