package kubestate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/pkg/state"
)

const annotationInfo = "mifbench.io/lock-info"

func (s *Store) leaseName() string { return "mifbench-lock-" + s.name }

func (s *Store) lease() string { return "Lease " + s.namespace + "/" + s.leaseName() }

// Lock creates the Lease or takes over one that has expired: its holder has not renewed it for a
// whole duration and cannot save any more, since every save checks serial and resource version.
// It is renewed until Unlock, also after ctx has ended.
func (s *Store) Lock(ctx context.Context, info state.LockInfo) (state.Lock, error) {
	err := retry(ctx, func() error {
		_, err := s.leases.Create(ctx, s.describe(&coordination.Lease{}, info), meta.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = s.takeOver(ctx, info)
		}
		return err
	})
	if err != nil {
		if errors.Is(err, state.ErrLocked) {
			return nil, err
		}
		return nil, fmt.Errorf("lock the state with %s: %w", s.lease(), err)
	}
	s.lost.Store(nil)
	k := &lock{store: s, info: info}
	renew, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k.cancel = cancel
	k.done.Go(func() { k.renew(renew) })
	return k, nil
}

// describe fills in holder, times and the note for people.
func (s *Store) describe(l *coordination.Lease, info state.LockInfo) *coordination.Lease {
	now := meta.NowMicro()
	seconds := int32(s.duration / time.Second)
	l.Name, l.Namespace = s.leaseName(), s.namespace
	l.Labels = map[string]string{"app.kubernetes.io/managed-by": "mifbench", labelState: s.name}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &info.ID, &seconds
	l.Spec.AcquireTime, l.Spec.RenewTime = &now, &now
	text, err := json.Marshal(info)
	if err != nil {
		panic(fmt.Sprintf("kubestate: lock info is not JSON: %v", err))
	}
	l.Annotations = map[string]string{annotationInfo: string(text)}
	return l
}

func (s *Store) takeOver(ctx context.Context, info state.LockInfo) error {
	l, err := s.leases.Get(ctx, s.leaseName(), meta.GetOptions{})
	if err != nil {
		return err
	}
	if l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == info.ID {
		return nil // made by an attempt whose answer was lost
	}
	expires := expiry(l)
	if l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "" && time.Now().Before(expires) {
		holder := holderOf(l)
		holder.Expires = expires
		return &state.LockedError{Where: s.where(), Info: holder}
	}
	_, err = s.leases.Update(ctx, s.describe(l, info), meta.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return fmt.Errorf("%w: %s: somebody else was faster; try again", state.ErrLocked, s.lease())
	}
	return err
}

// expiry is renewTime + duration; a Lease without them has expired.
func expiry(l *coordination.Lease) time.Time {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
}

func holderOf(l *coordination.Lease) state.LockInfo {
	var info state.LockInfo
	if json.Unmarshal([]byte(l.Annotations[annotationInfo]), &info) != nil || info.ID == "" {
		info = state.LockInfo{Who: "somebody"}
		if l.Spec.HolderIdentity != nil {
			info.ID = *l.Spec.HolderIdentity
		}
	}
	return info
}

// ForceUnlock deletes the Lease when its holder has this ID.
func (s *Store) ForceUnlock(ctx context.Context, id string) error {
	l, err := s.leases.Get(ctx, s.leaseName(), meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("force-unlock %s: the state in %s is not locked", id, s.where())
	}
	if err != nil {
		return fmt.Errorf("force-unlock: read %s: %w", s.lease(), err)
	}
	if holder := holderOf(l); holder.ID != id {
		return fmt.Errorf("force-unlock: the state in %s is locked with ID %s, not %s", s.where(), holder.ID, id)
	}
	return s.drop(ctx, l)
}

// drop deletes exactly the Lease that was seen.
func (s *Store) drop(ctx context.Context, l *coordination.Lease) error {
	o := meta.DeleteOptions{}
	if l.UID != "" {
		o.Preconditions = &meta.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}
	}
	err := retry(ctx, func() error { return s.leases.Delete(ctx, s.leaseName(), o) })
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", s.lease(), err)
	}
	return nil
}

// lock is a held Lease.
type lock struct {
	store  *Store
	info   state.LockInfo
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// renew keeps the Lease alive three times a duration. A Lease that changed hands makes the
// store's saves fail; an API server that cannot be reached is asked again.
func (k *lock) renew(ctx context.Context) {
	t := time.NewTicker(k.store.duration / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if !k.renewOnce(ctx) {
			return
		}
	}
}

// renewOnce returns false when the lock is lost.
func (k *lock) renewOnce(ctx context.Context) bool {
	s := k.store
	l, err := s.leases.Get(ctx, s.leaseName(), meta.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		k.lose("the lock was removed by force-unlock while this command ran")
		return false
	case err != nil:
		return true // next time
	case l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != k.info.ID:
		h := holderOf(l)
		k.lose(fmt.Sprintf("the lock expired and went to %s@%s (lock ID %s)", h.Who, h.Host, h.ID))
		return false
	}
	now := meta.NowMicro()
	l.Spec.RenewTime = &now
	// A failed update is tried again at the next tick; two in a row still fit into the duration.
	_, err = s.leases.Update(ctx, l, meta.UpdateOptions{})
	if apierrors.IsForbidden(err) {
		k.lose("the lock cannot be renewed: " + err.Error())
		return false
	}
	return true
}

func (k *lock) lose(why string) { k.store.lost.Store(&why) }

// Unlock stops the renewal and deletes the Lease, unless it changed hands.
func (k *lock) Unlock(ctx context.Context) error {
	k.cancel()
	k.done.Wait()
	if k.store.lost.Load() != nil {
		return nil
	}
	var l *coordination.Lease
	err := retry(ctx, func() (err error) {
		l, err = k.store.leases.Get(ctx, k.store.leaseName(), meta.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unlock the state: read %s: %w", k.store.lease(), err)
	}
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != k.info.ID {
		return nil
	}
	return k.store.drop(ctx, l)
}
