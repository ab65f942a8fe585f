package deploy

import (
	"time"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Event is something that happened during Apply or Destroy. Events come one at a
// time, in the order in which they happened; the receiver must not block for long.
type Event interface{ event() }

// Step names the change that an event is about.
type Step struct {
	Address resource.Address `json:"address"`
	ID      resource.ID      `json:"id"`
	Action  plan.Action      `json:"action"`
}

// Started means that work on an object begins.
type Started struct{ Step }

// Progress means that an object is being waited for. It comes when the reason changes and at each heartbeat.
type Progress struct {
	Step
	// Readiness is why it is not ready yet; empty when the driver has not said anything so far.
	Readiness plan.Readiness
	// Elapsed is the time since Started.
	Elapsed time.Duration
}

// Done means that the object is as planned and ready (or gone).
type Done struct {
	Step
	Elapsed time.Duration
}

// Failed means that the object is not as planned or not ready. Independent branches go on.
type Failed struct {
	Step
	Err     error
	Elapsed time.Duration
}

// Skipped means that the object was not attempted.
type Skipped struct {
	Step
	// Because says why: a failed dependency or the interrupt.
	Because string
}

// Saved means that the state was written.
type Saved struct{ Serial uint64 }

// Warning is something that the user should know and that stops nothing.
type Warning struct {
	Step
	Text string
}

// Stopping means that no new work is started and what is in flight is finished.
type Stopping struct{ Reason string }

// Verified is the check of the cluster after destroy.
type Verified struct{ Remaining []Remaining }

func (Started) event()  {}
func (Progress) event() {}
func (Done) event()     {}
func (Failed) event()   {}
func (Skipped) event()  {}
func (Saved) event()    {}
func (Warning) event()  {}
func (Stopping) event() {}
func (Verified) event() {}
