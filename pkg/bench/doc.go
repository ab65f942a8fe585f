// Package bench runs a Scenario: it takes prompts from a dataset, intended times from an
// arrival schedule and a client, sends each request at its time, and hands every outcome
// to a Sink as exactly one record, the dropped and cancelled included. It judges nothing
// but itself: Proof holds what shows whether this client was the bottleneck. Metrics are
// made from the records elsewhere.
//
// Time is one monotonic clock with an absolute schedule, never "sleep after send". The
// cap on requests in flight is hard; what waits for it keeps its intended time. Memory
// is bounded by the cap, the depth of prepared requests and the sink's queue.
//
// Run returns errors for scenarios that cannot run, for targets that do not answer the
// probe, for a machine that lacks files or ports, and when the sink fails; a request's
// failure is data in its record.
package bench
