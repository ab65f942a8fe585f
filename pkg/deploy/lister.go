package deploy

import (
	"context"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Lister is implemented by drivers that can find a stack's objects in the world
// without a state file, by the owner annotation that Apply writes. Recover and
// the check at the end of destroy use it.
type Lister interface {
	// List returns every object of the driver within the scope that carries the stack's owner
	// annotation, and those that the scope names. Kinds that could not be listed come back as
	// warnings (Found.Warning), never silently.
	List(ctx context.Context, stack string, in Scope) ([]Found, error)
}

// Scope says where List looks; the zero Scope is the whole cluster.
type Scope struct {
	// Kinds limits the look to these kinds (KindOf), in all namespaces, and to those that a driver
	// knows to be left behind outside of namespaces. Nil is every kind.
	Kinds []string
	// Namespaces are looked at for all kinds that live in one, besides.
	Namespaces []string
	// Named are objects, by ID.Key, that are returned whoever owns them.
	Named map[string]bool
}

// KindOf is an object's kind as Scope spells it: "group/Kind", core group "/Kind".
func KindOf(id resource.ID) string { return id.Group() + "/" + id.Kind }

// Found is one object that List came upon.
type Found struct {
	ID  resource.ID
	UID string
	// Owner is the stack of the owner annotation, "" for none.
	Owner string
	// Address is the block that the annotation names, zero when it names none.
	Address resource.Address
	// Created is what the annotation tells about who made the object; true when it tells nothing.
	Created bool
	// DependsOn is what the annotation tells of the order, nil when it tells nothing.
	DependsOn []resource.ID
	Facts     map[string]any
	// Warning is set when a part of the world could not be looked at; ID tells its kind alone then.
	Warning string
}
