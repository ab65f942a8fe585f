package kube

import (
	"cmp"
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mifbench/mifbench/pkg/resource"
)

const (
	// watchOpen bounds the opening of a watch: a server sends the headers at once.
	watchOpen = 10 * time.Second
	// watchLook is how long a silent watch is trusted before the object is read all the same: a
	// proxy may hold events back, or a dead connection look alive.
	watchLook = 10 * time.Second
	// watchCuts is how many watches in a row may end without an event before reading alone must do.
	watchCuts = 3
)

// follower looks at one object again and again: by reading it, and between two looks by a watch
// that tells at once when there is something new. Nothing depends on the watch: one that is
// cut, expired (410) or not allowed costs time and requests, never the truth.
type follower struct {
	driver *Driver
	id     resource.ID
	// live is the newest state, nil when absent, when fresh is set.
	live  map[string]any
	fresh bool
	// from is the resourceVersion that a watch begins after, "" when the object is to be read first.
	from string
	// uid tells the incarnation that is followed, "" for any.
	uid string
	// idle is the longest rest while a watch is silent; 0 means watchLook.
	idle time.Duration
	// heard is when the object was last read, or an event came.
	heard time.Time

	events watch.Interface
	cancel context.CancelFunc
	// cuts counts the watches that brought nothing; off says that there will be no other.
	cuts int
	off  bool
}

// follow begins where the answer to the last request for the object left off, if there is one.
func (d *Driver) follow(id resource.ID, uid string, gone bool) *follower {
	f := &follower{driver: d, id: id, uid: uid}
	if live, ok := d.answers.take(id, uid, gone); ok {
		f.tell(live)
	}
	return f
}

// look returns the object as it is now, nil when it is absent.
func (f *follower) look(ctx context.Context) (map[string]any, error) {
	if f.fresh {
		f.fresh = false
		return f.live, nil
	}
	live, err := f.driver.get(ctx, f.id)
	if err != nil {
		f.close()
		f.from = ""
		return nil, err
	}
	f.see(live)
	return live, nil
}

func (f *follower) see(live map[string]any) {
	f.live, f.heard = live, f.driver.now()
	if live != nil {
		f.from = metaString(live, "resourceVersion")
	}
}

// tell makes the next look return what somebody else has learnt.
func (f *follower) tell(live map[string]any) {
	f.see(live)
	f.fresh = true
}

// rest returns when it is time for the next look: when the watch has told something, when pause
// is over where there is no watch, or when ctx ends.
func (f *follower) rest(ctx context.Context, pause time.Duration) {
	if f.events == nil {
		f.open(ctx)
	}
	if f.events == nil {
		sleep(ctx, pause)
		return
	}
	idle := time.NewTimer(min(watchLook, cmp.Or(f.idle, watchLook)))
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-idle.C:
			f.still()
			return
		case e, ok := <-f.events.ResultChan():
			if ok && f.take(e) {
				return
			}
			if !ok {
				f.cut()
				sleep(ctx, pause)
				return
			}
		}
	}
}

// still makes the next look one at what is known, as long as the silence can be believed.
func (f *follower) still() {
	if f.driver.now().Sub(f.heard) < watchLook {
		f.fresh = true
		return
	}
	f.close()
}

// take makes an event the next look; false when it says nothing of the object.
func (f *follower) take(e watch.Event) bool {
	o, ok := e.Object.(*unstructured.Unstructured)
	switch {
	case e.Type == watch.Bookmark:
		return false
	case e.Type == watch.Error, !ok:
		f.close()
		f.from = "" // expired: read again, then watch from there
		return true
	}
	f.cuts = 0
	if e.Type == watch.Deleted {
		if f.uid == "" || string(o.GetUID()) == f.uid {
			f.tell(nil)
			return true
		}
		return false
	}
	f.tell(o.Object)
	return true
}

// open starts a watch from where the last look was. Where that fails, reading must do.
func (f *follower) open(ctx context.Context) {
	if f.off || f.from == "" {
		return
	}
	r, k, err := f.driver.resource(ctx, f.id)
	if err != nil {
		return
	}
	if !k.can("watch") {
		f.off = true
		return
	}
	inner, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(watchOpen, cancel)
	f.events, err = r.Watch(inner, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", f.id.Name).String(), ResourceVersion: f.from,
	})
	late.Stop()
	if err != nil {
		cancel()
		f.events = nil
		f.failed(err)
		return
	}
	f.cancel = cancel
}

func (f *follower) failed(err error) {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotFound(err):
		f.off = true
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		f.from = ""
	default:
		f.cut()
	}
}

// cut counts a watch that ended by itself.
func (f *follower) cut() {
	f.close()
	f.from = "" // what happened meanwhile only a look tells
	if f.cuts++; f.cuts == watchCuts {
		f.off = true
	}
}

func (f *follower) close() {
	if f.events != nil {
		f.events.Stop()
		f.cancel()
		f.events, f.cancel = nil, nil
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
