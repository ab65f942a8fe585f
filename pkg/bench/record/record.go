// Package record is the raw outcome of one request and its append-only, versioned
// file format: the boundary between generating load and judging it. Reports are
// made from records and never need the run again. Damage in a file comes back as
// a wrapped error with the file and offset, together with every record before it.
package record

import "slices"

// Status is the class of a request's outcome.
type Status string

// The statuses. Everything but OK keeps the tokens that arrived.
const (
	OK        Status = "ok"
	Dropped   Status = "dropped"    // never sent: the cap or the deadline did not allow it
	Cancelled Status = "cancelled"  // the run ended first
	Dial      Status = "dial"       // no connection
	TLS       Status = "tls"        // handshake or certificate
	HTTP      Status = "http"       // status other than 200; Error has status and body excerpt
	FirstByte Status = "first-byte" // no token in time
	Idle      Status = "idle"       // stream stood still too long
	Reset     Status = "reset"      // connection broken
	Truncated Status = "truncated"  // stream ended without finish or [DONE]
	InStream  Status = "in-stream"  // error object inside a 200 stream
	Decode    Status = "decode"     // not the wire format
	NoTokens  Status = "no-tokens"  // a clean stream that carried no token
	Timeout   Status = "timeout"    // total time over
)

// Event is one token event: a chunk with content, reasoning or a tool delta.
type Event struct {
	// At is the arrival in ns since the run's start, on the run's one clock.
	At int64
	// Tokens is how many tokens the chunk carried (1 unless usage says otherwise).
	Tokens int32
	// Coalesced marks an event whose read returned more than one event, so that its
	// kernel stamp may be that of a later one.
	Coalesced bool
}

// Record is the outcome of one request. Times are ns since the run's start; 0 in
// FirstByte and Done means "did not happen".
type Record struct {
	// Index is the position in the schedule: prompt and intended time follow from it.
	Index int64
	// Intended is when the schedule wanted the send, Sent when it happened (after a slot was free).
	Intended, Sent int64
	// Connected is when a connection was had, FirstByte when response headers arrived.
	Connected, FirstByte int64
	// Done is when the stream ended.
	Done   int64
	Status Status
	// HTTPStatus is the response code, 0 if none.
	HTTPStatus int
	// Error is one line for people; never holds prompt text or credentials.
	Error string
	// PromptTokens as intended by the dataset; UsagePrompt and UsageCompletion as the server
	// counted (-1 when it did not say).
	PromptTokens, UsagePrompt, UsageCompletion int32
	// CachedTokens is usage.prompt_tokens_details.cached_tokens, -1 when absent.
	CachedTokens int32
	// MaxTokens is the output length asked for.
	MaxTokens int32
	// FinishReason as the server gave it.
	FinishReason string
	// ReasoningEvents counts leading events that carried reasoning only.
	ReasoningEvents int32
	// Target is the index of the base URL used.
	Target int32
	// MaxLag is the largest (user-space read time - kernel stamp) seen, ns.
	MaxLag int64
	// KernelClock tells that Events carry kernel receive stamps.
	KernelClock bool
	Events      []Event
}

// Clone returns a copy that shares nothing with r: what a loop over All keeps.
func (r *Record) Clone() Record {
	c := *r
	c.Events = slices.Clone(r.Events)
	return c
}
