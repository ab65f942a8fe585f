package deploy

import (
	"context"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Lister is implemented by drivers that can find a stack's objects in the world
// without a state file, by the owner annotation that Apply writes. Recover and
// the check at the end of destroy use it.
type Lister interface {
	// List returns every object of the driver that carries the stack's owner annotation.
	// Kinds that could not be listed come back as warnings (Found.Warning), never silently.
	List(ctx context.Context, stack string) ([]Found, error)
}

// Found is one object that carries an owner annotation.
type Found struct {
	ID  resource.ID
	UID string
	// Address is the block that the annotation names, zero when it names none.
	Address resource.Address
	// Created is what the annotation tells about who made the object; true when it tells nothing.
	Created bool
	// DependsOn is what the annotation tells of the order, nil when it tells nothing.
	DependsOn []resource.ID
	Facts     map[string]any
	// Warning is set instead of ID when a part of the world could not be looked at.
	Warning string
}
