package state

// ClusterID is what tells one cluster from another. A part that is not known is "".
type ClusterID struct {
	// UID is that of the namespace kube-system; not everybody may see it.
	UID string
	// CA is a digest ("sha256:" and 64 hex digits) of the certificates that the cluster publishes
	// as its own in every namespace (ConfigMap kube-root-ca.crt). It stays the same until they
	// are renewed.
	CA string
}

// Known tells whether there is anything to compare.
func (c ClusterID) Known() bool { return c != ClusterID{} }

// Same tells whether both are one cluster: by the UID where both know it, otherwise by the CA.
// Without a part that both know there is no answer, and comparable is false.
func (c ClusterID) Same(other ClusterID) (same, comparable bool) {
	switch {
	case c.UID != "" && other.UID != "":
		return c.UID == other.UID, true
	case c.CA != "" && other.CA != "":
		return c.CA == other.CA, true
	}
	return false, false
}

// String names the part that counts most.
func (c ClusterID) String() string {
	switch {
	case c.UID != "":
		return c.UID + " (UID of kube-system)"
	case c.CA != "":
		return c.CA + " (digest of its CA)"
	}
	return "(not known)"
}

// Cluster is what the state knows of its cluster.
func (s State) Cluster() ClusterID { return ClusterID{UID: s.ClusterUID, CA: s.ClusterCA} }

// SetCluster records what is known of the cluster; a part that is not known stays as it was.
func (s *State) SetCluster(c ClusterID) {
	if c.UID != "" {
		s.ClusterUID = c.UID
	}
	if c.CA != "" {
		s.ClusterCA = c.CA
	}
}
