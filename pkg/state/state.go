// Package state is what a stack created last time: the State value, its versioned
// file format, serial, lineage and lock. It stores no Secret data: fingerprints
// only. Damaged, newer or foreign files come back as wrapped errors that name the
// file and what to do; nothing here talks to a cluster.
package state

import (
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Status is how far an object got.
type Status string

// The statuses of an entry, in the order of its life.
const (
	Planned  Status = "planned"  // recorded before the first apply; may not exist
	Applied  Status = "applied"  // exists, was not seen ready
	Ready    Status = "ready"    // exists and was seen ready
	Deleting Status = "deleting" // deletion was asked for, absence not yet seen
)

// Entry is one object that the stack owns.
type Entry struct {
	Address resource.Address `json:"address"`
	ID      resource.ID      `json:"id"`
	Status  Status           `json:"status"`
	// UID is the cluster's identity of the object ("" for releases and unknown).
	UID string `json:"uid,omitempty"`
	// Created tells that this stack made the object; an adopted one is not deleted without saying so.
	Created bool `json:"created"`
	// Fingerprint is a keyed hash of the desired Spec with its secrets, for change detection.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Fields are keyed hashes of parts of the desired Spec by JSON pointer (see Digests); they tell
	// a change of the file from a change made outside. Written by the engine.
	Fields map[string]string `json:"fields,omitempty"`
	// Borrowed marks an object that somebody else makes and this stack waits for.
	Borrowed bool `json:"borrowed,omitempty"`
	// DependsOn lists what must outlive the object: destroy works from state alone.
	DependsOn []resource.ID    `json:"dependsOn,omitempty"`
	Options   resource.Options `json:"options"`
	// Facts are the driver's own non-secret facts (chart, version, digest, revision, expiry, children).
	Facts map[string]any `json:"facts,omitempty"`
	// Updated is when the entry last changed.
	Updated time.Time `json:"updated"`
}

// State is the memory of one stack on one cluster.
type State struct {
	Stack   string `json:"stack"`
	Lineage string `json:"lineage"`
	// Serial grows by one with each write.
	Serial uint64 `json:"serial"`
	// ClusterUID and ClusterCA are the cluster's ClusterID; both are "" before the first apply.
	ClusterUID string `json:"clusterUID,omitempty"`
	ClusterCA  string `json:"clusterCA,omitempty"`
	// Salt keys the fingerprints; random, not a secret of the user's.
	Salt    string  `json:"salt"`
	Entries []Entry `json:"entries"`
	// Outputs are the last apply's non-sensitive outputs as JSON values.
	Outputs map[string]any `json:"outputs,omitempty"`
}
