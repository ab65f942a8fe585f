package deploy

import (
	"context"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Driver does the I/O for one family of objects. Implementations are safe for
// concurrent use. Errors are wrapped, name the object and what was tried, and
// answer errors.Is with the sentinels of this package where one fits.
type Driver interface {
	// Observe looks at one object and changes nothing.
	Observe(ctx context.Context, q Query) (plan.Observation, error)
	// Apply makes the object as the plan showed it and returns once the API accepted it.
	Apply(ctx context.Context, r Request) (Result, error)
	// Wait returns nil when the object is ready (or, for a deletion, gone), an error wrapping
	// ErrNotReady when it is doomed or ctx ends. report is called when the reason changes.
	Wait(ctx context.Context, r Request, report func(plan.Readiness)) error
	// Delete asks for deletion and returns once the API accepted it; an absent object is no error.
	Delete(ctx context.Context, r Request) error
}

// Query asks for an observation.
type Query struct {
	// Want is the desired object, nil when it is only to be deleted or refreshed.
	Want *resource.Object
	// Prior is the state's entry, nil when there is none.
	Prior *state.Entry
	// Provided is what earlier objects of the same plan will bring.
	Provided plan.Provided
	// Stack names the owner that Apply writes into the annotation.
	Stack string
	// Salt keys fingerprints.
	Salt string
}

// Request asks for one step of a plan.
type Request struct {
	Query
	// Seen is the observation that the plan was made from; Apply refuses to go further than it
	// when the live object has moved (errors.Is ErrChanged).
	Seen plan.Observation
	// Gone makes Wait wait for absence.
	Gone bool
	// Replace makes Apply delete and create.
	Replace bool
	// Report may be called by an Apply that takes its time, when what it waits for changes; it may
	// be nil.
	Report func(plan.Readiness)
}

// Result is what Apply did.
type Result struct {
	UID string
	// Created is true when the object did not exist before.
	Created bool
	Facts   map[string]any
	// Fingerprint of the desired object, keyed with the query's salt.
	Fingerprint string
	Warnings    []string
}
