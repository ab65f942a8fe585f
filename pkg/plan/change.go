package plan

import (
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// Action is what apply will do with one object.
type Action string

// The actions. Everything but NoOp is work for apply.
const (
	NoOp    Action = "no-op"
	Create  Action = "create"
	Update  Action = "update"
	Replace Action = "replace" // delete, wait until gone, create
	Delete  Action = "delete"
	Wait    Action = "wait"    // applied before, not ready: wait on
	Adopt   Action = "adopt"   // exists and becomes ours
	Recover Action = "recover" // a stuck release is brought back first
	Renew   Action = "renew"   // same object, its content is made anew
	Forget  Action = "forget"  // leaves the state; already gone or not ours any more
	Keep    Action = "keep"    // leaves the state; stays in the cluster
)

// Writes tells whether the action changes the cluster.
func (a Action) Writes() bool {
	switch a {
	case Create, Update, Replace, Delete, Adopt, Recover, Renew:
		return true
	case NoOp, Wait, Forget, Keep:
		return false
	}
	return false
}

// Removes tells whether the object's entry leaves the state.
func (a Action) Removes() bool { return a == Delete || a == Forget || a == Keep }

// Op says which sides of a FieldDiff exist; it tells a null from an absent field.
type Op string

// The three ways in which a field can differ.
const (
	Added   Op = "add"
	Removed Op = "remove"
	Changed Op = "change"
)

// FieldDiff is one field that differs. Secrets are masked already.
type FieldDiff struct {
	// Path is a JSON pointer into the object; list elements are counted in the
	// side that has them (the new side when both do).
	Path              string `json:"path"`
	Op                Op     `json:"op"`
	Before            any    `json:"before,omitempty"`
	After             any    `json:"after,omitempty"`
	Sensitive         bool   `json:"sensitive,omitempty"`
	ForcesReplacement bool   `json:"forcesReplacement,omitempty"`
}

// Child is one object behind a release that the change touches.
type Child struct {
	ID     resource.ID `json:"id"`
	Action Action      `json:"action"`
	Fields []FieldDiff `json:"fields,omitempty"`
	// Unchanged counts the leaves that stay as they are.
	Unchanged int `json:"unchanged,omitempty"`
}

// Change is what happens to one object and why.
type Change struct {
	Address resource.Address `json:"address"`
	ID      resource.ID      `json:"id"`
	Action  Action           `json:"action"`
	// Reason is a sentence without a full stop, "" when the action says it all.
	Reason string `json:"reason,omitempty"`
	// Fields are the differences between live and what apply will leave.
	Fields []FieldDiff `json:"fields,omitempty"`
	// Unchanged counts the leaves that stay as they are.
	Unchanged int `json:"unchanged,omitempty"`
	// Drift is the part of the difference that the file did not cause: live against what was
	// last applied. Apply heals it; the same fields are in Fields, too.
	Drift []FieldDiff `json:"drift,omitempty"`
	// Gone is set when the object was deleted outside of mifbench.
	Gone      bool       `json:"gone,omitempty"`
	Children  []Child    `json:"children,omitempty"`
	Conflicts []Conflict `json:"conflicts,omitempty"`
	// Interrupts says what the change disturbs ("3 pods, 24 amd.com/gpu restart").
	Interrupts string `json:"interrupts,omitempty"`
	// Offline says why the server was not asked to predict.
	Offline string `json:"offline,omitempty"`
	// MovedFrom is the former address of the same object.
	MovedFrom *resource.Address `json:"movedFrom,omitempty"`
	Notes     []string          `json:"notes,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	// DependsOn lists the objects of the plan whose change must be done before this one.
	DependsOn []resource.ID `json:"dependsOn,omitempty"`
	// Facts are what the driver pinned (chart version, digest, expiry).
	Facts map[string]any `json:"facts,omitempty"`

	// What apply needs and a saved plan does not carry (it is planned again from the same file).
	Want  *resource.Object `json:"-"`
	Prior *state.Entry     `json:"-"`
	// TakenBack is an adoption of an object that carries this stack's mark: the state was lost.
	TakenBack bool        `json:"-"`
	Seen      Observation `json:"-"`
}

// Pending tells whether apply has anything to do for the object, in the cluster or in the state.
func (c Change) Pending() bool { return c.Action != NoOp || c.MovedFrom != nil }

// Problem is a reason why the plan cannot be applied. The plan is shown in full all the same.
type Problem struct {
	Address resource.Address `json:"address"`
	ID      resource.ID      `json:"id"`
	// Code is a stable word: foreign, conflict, prevent-destroy, replace, terminating, unobserved.
	Code    string `json:"code"`
	Summary string `json:"summary"`
	// Detail says what to do.
	Detail string `json:"detail,omitempty"`
}

// Plan is everything that apply will do, in order.
type Plan struct {
	Stack       string `json:"stack"`
	Destroy     bool   `json:"destroy,omitempty"`
	RefreshOnly bool   `json:"refreshOnly,omitempty"`
	// Partial says that -target or -exclude left objects out.
	Partial bool `json:"partial,omitempty"`
	// Changes holds one change an object, no-ops included: first what is made, in dependency
	// order, then what is removed, in the order of removal.
	Changes  []Change  `json:"changes"`
	Problems []Problem `json:"problems,omitempty"`
}

// HasChanges tells whether apply would do anything.
func (p Plan) HasChanges() bool {
	for _, c := range p.Changes {
		if c.Pending() {
			return true
		}
	}
	return false
}

// Drifted lists the changes that have something to show under "changed outside of mifbench".
func (p Plan) Drifted() []Change {
	var out []Change
	for _, c := range p.Changes {
		if len(c.Drift) > 0 || c.Gone {
			out = append(out, c)
		}
	}
	return out
}

// Summary counts objects by what happens to them. A replacement counts as one added and one destroyed.
type Summary struct {
	Add     int `json:"add"`
	Change  int `json:"change"`
	Destroy int `json:"destroy"`
	Adopt   int `json:"adopt"`
	Wait    int `json:"wait"`
	Forget  int `json:"forget"`
	Keep    int `json:"keep"`
	Move    int `json:"move"`
	NoOp    int `json:"noOp"`
}

// Summary counts the plan's changes.
func (p Plan) Summary() Summary {
	var s Summary
	for _, c := range p.Changes {
		s.count(c)
	}
	return s
}

func (s *Summary) count(c Change) {
	if c.MovedFrom != nil {
		s.Move++
	}
	switch c.Action {
	case Create:
		s.Add++
	case Update, Recover, Renew:
		s.Change++
	case Replace:
		s.Add++
		s.Destroy++
	case Delete:
		s.Destroy++
	case Adopt:
		s.Adopt++
	case Wait:
		s.Wait++
	case Forget:
		s.Forget++
	case Keep:
		s.Keep++
	case NoOp:
		s.NoOp++
	}
}
