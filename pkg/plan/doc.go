// Package plan compares desired, recorded and observed objects and returns a Plan,
// purely: no clock, no network, no files but the saved-plan format. What a plan
// does not show, apply does not do. Errors concern saved plans only (newer version,
// damaged file, stale against state, configuration, chart or cluster).
package plan
