// Package kubestate keeps a stack's state in the cluster: a Secret, split over
// several when it is large, under a Lease that is renewed while a command runs
// and that expires when its holder dies. It implements state.Store; it renders
// and decides nothing. Errors are wrapped, name the Secret or Lease and answer
// errors.Is with the sentinels of package state (ErrMoved, ErrLineage, ErrLocked,
// ErrDamaged, ErrNewer).
package kubestate
