// Package deploy observes and applies: it walks a plan in dependency order through
// small drivers, records state before and after each step, and emits events. It
// renders nothing and decides nothing that the plan has not decided. Failures of
// the world are wrapped errors that name the object; a caller's mistake panics.
package deploy
