package plan

import (
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Observation is what a driver saw of one object: live, and as a server-side
// dry-run of the desired object would leave it. All maps are normalised JSON
// values (no status, managedFields, uid, resourceVersion, generation, timestamps)
// in which secrets are already masked.
type Observation struct {
	ID     resource.ID
	Exists bool
	UID    string
	// Version is the live resourceVersion (or release revision) seen; apply re-checks it.
	Version string
	// Owner is the stack named by the object's owner annotation, "" for none.
	Owner string
	// Adopted is set when the owner annotation says that the stack took over the object instead of
	// making it; it matters when the state was lost.
	Adopted bool
	// Live and Predicted are the two sides of the diff; Predicted is nil when Want was nil.
	Live, Predicted map[string]any
	// Offline says why Predicted is the author's text instead of the server's answer
	// (namespace or kind created by this same plan); "" when the server answered.
	Offline string
	// Immutable lists JSON pointers whose change needs a replacement.
	Immutable []string
	// Conflicts lists fields that another manager owns.
	Conflicts []Conflict
	// Ready is the readiness of the live object.
	Ready Readiness
	// Borrowed means that somebody else makes the object and this stack only waits for it (a
	// replicated Secret): it is never adopted, changed or deleted.
	Borrowed bool
	// Terminating is set when deletion was already asked for.
	Terminating bool
	// Children are the objects behind a release, each with its own two sides.
	Children []Observation
	// Recover is the planned way out of a stuck release ("" for none), a sentence.
	Recover string
	// Renew says why content behind an unchanged desired object must be made anew ("" = keep),
	// e.g. "token expires in 20m".
	Renew string
	// Facts are pinned by the plan and handed back to Apply (chart version, digest, values hash, expiry).
	Facts map[string]any
	// Provides lists kinds ("group/Kind") and namespaces that exist once this object is applied.
	Provides Provided
	// Interrupts says what a change would disturb ("3 pods, 24 amd.com/gpu restart"), "" for nothing.
	Interrupts string
	Notes      []string
	Warnings   []string
}

// Conflict is one field that another field manager owns.
type Conflict struct {
	Field   string `json:"field"`
	Manager string `json:"manager"`
}

// ByHand tells that the other manager is a person at a command line, not a program that will
// write the field again: such an edit of a field that the stack applied is drift, to be shown
// and healed, and not a second owner.
func (c Conflict) ByHand() bool { return strings.HasPrefix(c.Manager, "kubectl") }

// Provided is what will exist when earlier objects of the plan are applied.
type Provided struct {
	Namespaces []string
	Kinds      []string // "group/Kind", core group "/Kind"
}

// Readiness is the verdict of one readiness rule on one live object.
type Readiness struct {
	Ready bool `json:"ready"`
	// Failed means that waiting longer will not help.
	Failed bool `json:"failed,omitempty"`
	// Reason is one line for people: the last condition, newest warning event, failing container.
	Reason string `json:"reason,omitempty"`
	// Detail holds further lines (last log lines of the failing container).
	Detail []string `json:"detail,omitempty"`
	// Since is when the reason was first seen; zero when unknown.
	Since time.Time `json:"since,omitzero"`
}
