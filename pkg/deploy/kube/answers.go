package kube

import (
	"sync"
	"time"

	"github.com/mifbench/mifbench/pkg/resource"
)

// answerAge is how long an answer is worth something: its wait follows at once or not at all.
const answerAge = time.Minute

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
	// leaving tells an answer to a deletion from one to an apply.
	leaving bool
	at      time.Time
}

// applied keeps the object that an apply left.
func (a *answers) applied(id resource.ID, live map[string]any) {
	a.keep(id, told{uid: metaString(live, "uid"), live: live, at: time.Now()})
}

// leaving keeps the object that a deletion left, nil when it is no more.
func (a *answers) leaving(id resource.ID, uid string, live map[string]any) {
	a.keep(id, told{uid: uid, live: live, leaving: true, at: time.Now()})
}

func (a *answers) keep(id resource.ID, t told) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[string]told{}
	}
	a.byID[id.Key()] = t
}

// drop forgets an answer that a new request makes old.
func (a *answers) drop(id resource.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byID, id.Key())
}

// take returns the answer about the incarnation with that UID: to its deletion when its absence is waited
// for (then uid may be "": the last one deleted), to its apply otherwise.
func (a *answers) take(id resource.ID, uid string, gone bool) (live map[string]any, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.byID[id.Key()]
	delete(a.byID, id.Key())
	same := uid != "" && t.uid == uid || gone && uid == ""
	return t.live, ok && same && t.leaving == gone && time.Since(t.at) < answerAge
}
