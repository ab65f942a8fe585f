package kube

import (
	"sync"

	"github.com/mifbench/mifbench/pkg/resource"
)

// answers keeps what the server said of an object when it was applied or deleted, for the wait
// that follows: it need not ask what has just been told. Each answer is used once.
type answers struct {
	mu   sync.Mutex
	byID map[string]told
}

// told is one answer: the object as the server left it, nil when it is gone.
type told struct {
	uid  string
	live map[string]any
}

// put keeps the object that a request left.
func (a *answers) put(id resource.ID, live map[string]any) {
	a.keep(id, told{metaString(live, "uid"), live})
}

// gone keeps that the incarnation with that UID is no more.
func (a *answers) gone(id resource.ID, uid string) { a.keep(id, told{uid, nil}) }

func (a *answers) keep(id resource.ID, t told) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[string]told{}
	}
	a.byID[id.Key()] = t
}

// drop forgets an answer that a new request makes old.
func (a *answers) drop(id resource.ID) { a.take(id, "") }

// take returns the answer about the incarnation with that UID, or about any when uid is "".
func (a *answers) take(id resource.ID, uid string) (live map[string]any, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.byID[id.Key()]
	delete(a.byID, id.Key())
	return t.live, ok && (uid == "" || t.uid == uid)
}
