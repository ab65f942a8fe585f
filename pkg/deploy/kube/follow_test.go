package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
	"github.com/mifbench/mifbench/pkg/state"
)

// leaving is a ConfigMap on its way out.
func leaving(version string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"ns","uid":"u1","resourceVersion":"` + version +
		`","annotations":{"mifbench.dev/stack":"s1"},"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["example.org/hold"]}}`
}

func event(kind, object string) string { return `{"type":"` + kind + `","object":` + object + "}\n" }

const (
	notFound = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	expired  = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old resource version","code":410}`
)

// script plays a server on which one object goes away: reads answer until there are none left, then
// 404; each watch gets the next of watches, and is cut at its end.
type script struct {
	mu      sync.Mutex
	reads   []string
	watches []string
	seen    []string
}

func (s *script) next(list *[]string, otherwise string) string {
	if len(*list) == 0 {
		return otherwise
	}
	first := (*list)[0]
	*list = (*list)[1:]
	return first
}

func (s *script) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer := ""
	switch q := r.URL.Query(); {
	case r.Method == http.MethodDelete:
		s.seen = append(s.seen, "delete")
		answer = leaving("5")
	case q.Get("watch") != "":
		s.seen = append(s.seen, "watch "+q.Get("resourceVersion"))
		answer = s.next(&s.watches, "")
	default:
		s.seen = append(s.seen, "read")
		answer = s.next(&s.reads, notFound)
	}
	var status struct{ Code int }
	if json.Unmarshal([]byte(answer), &status) == nil && status.Code > 0 {
		w.WriteHeader(status.Code)
	}
	_, _ = fmt.Fprint(w, answer)
}

// gone is the request to wait for the object's absence.
func gone(stack string) deploy.Request {
	id := resource.ID{Driver: resource.DriverKube, APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "c"}
	return deploy.Request{
		Query: deploy.Query{Prior: &state.Entry{ID: id, UID: "u1", Created: true}, Stack: stack}, Gone: true,
		Seen: plan.Observation{Exists: true, UID: "u1", Version: "4", Owner: "s1"},
	}
}

// TestAbsenceIsSeenWhateverBecomesOfTheWatch: the watch only makes it sooner.
func TestAbsenceIsSeenWhateverBecomesOfTheWatch(t *testing.T) {
	forbidden := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`
	for name, c := range map[string]struct {
		script *script
		want   string
	}{
		"told by the watch": {&script{watches: []string{event("MODIFIED", leaving("6")) + event("DELETED", leaving("7"))}}, "delete, watch 5"},
		"cut":               {&script{watches: []string{event("MODIFIED", leaving("6"))}}, "delete, watch 5, read"},
		"cut, and again": {
			&script{reads: []string{leaving("6")}, watches: []string{"", event("DELETED", leaving("7"))}}, "delete, watch 5, read, watch 6",
		},
		"expired in the stream": {
			&script{reads: []string{leaving("9")}, watches: []string{event("ERROR", expired), event("DELETED", leaving("10"))}}, "delete, watch 5, read, watch 9",
		},
		"expired at once":   {&script{reads: []string{leaving("9")}, watches: []string{expired, event("DELETED", leaving("10"))}}, "delete, watch 5, read, watch 9"},
		"no right to watch": {&script{reads: []string{leaving("6"), leaving("7")}, watches: []string{forbidden}}, "delete, watch 5, read, read, read"},
		"always cut at once": {
			&script{reads: []string{leaving("6"), leaving("6"), leaving("6"), leaving("6")}}, "delete, watch 5, read, watch 6, read, watch 6, read, read, read",
		},
		"made anew meanwhile": {
			&script{watches: []string{event("MODIFIED", strings.Replace(leaving("8"), `"u1"`, `"u2"`, 1))}}, "delete, watch 5",
		},
		"another one of the name is deleted": {
			&script{watches: []string{event("DELETED", strings.Replace(leaving("8"), `"u1"`, `"u2"`, 1)) + event("DELETED", leaving("9"))}}, "delete, watch 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := silentServer(t, c.script.serve)
			if err := d.Delete(t.Context(), gone("s1")); err != nil {
				t.Fatal(err)
			}
			var last plan.Readiness
			if err := d.Wait(t.Context(), gone("s1"), func(r plan.Readiness) { last = r }); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.script.seen, ", "); got != c.want {
				t.Errorf("requests: %s, want %s", got, c.want)
			}
			if !strings.Contains(last.Reason, "finalizers example.org/hold") {
				t.Errorf("reported %q", last.Reason)
			}
		})
	}
}

// TestWhatChangedSinceThePlanIsLookedAtBeforeItIsDeleted: the server refuses (409), the object is another
// stack's by now.
func TestWhatChangedSinceThePlanIsLookedAtBeforeItIsDeleted(t *testing.T) {
	var deletions []string
	d := silentServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodDelete {
			var o struct {
				Preconditions struct{ UID, ResourceVersion string }
			}
			_ = json.NewDecoder(r.Body).Decode(&o)
			deletions = append(deletions, o.Preconditions.UID+" "+o.Preconditions.ResourceVersion)
			w.WriteHeader(http.StatusConflict)
			_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`)
			return
		}
		_, _ = fmt.Fprint(w, strings.Replace(leaving("6"), `"s1"`, `"other"`, 1))
	})
	err := d.Delete(t.Context(), gone("s1"))
	if err == nil || !strings.Contains(err.Error(), `belongs to the stack "other"`) || strings.Join(deletions, ",") != "u1 4" {
		t.Fatal(err, deletions)
	}
}

// TestASilentWatchIsNotTrustedForEver: a proxy that holds events back costs ten seconds.
func TestASilentWatchIsNotTrustedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewFake()
		_, cancel := context.WithCancel(t.Context())
		f := &follower{driver: &Driver{now: time.Now}, idle: podLook, events: events, cancel: cancel}
		f.see(map[string]any{"kind": "Pod"})
		start := time.Now()
		for f.events != nil {
			f.rest(t.Context(), time.Hour)
			if took := time.Since(start); f.events != nil && (!f.fresh || took > watchLook) {
				t.Fatalf("after %s: fresh %v", took, f.fresh)
			}
		}
		if took := time.Since(start); took != watchLook {
			t.Errorf("closed after %s", took)
		}
	})
}

// TestAnEventEndsTheRest: what it brought is the next look, without a request.
func TestAnEventEndsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewFake()
		f := &follower{driver: &Driver{now: time.Now}, events: events}
		go events.Modify(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"resourceVersion": "7"}}})
		f.rest(t.Context(), time.Hour)
		live, err := f.look(t.Context())
		if err != nil || metaString(live, "resourceVersion") != "7" || f.from != "7" {
			t.Fatal(live, err, f.from)
		}
	})
}

// TestAnswersAreForTheWaitThatFollows: a deletion says nothing of the object that is made next, nor the
// other way round.
func TestAnswersAreForTheWaitThatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := resource.ID{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "c"}
		was := map[string]any{"metadata": map[string]any{"uid": "u1"}}
		for _, c := range []struct {
			name  string
			given func(*answers)
			uid   string
			gone  bool
			want  bool
		}{
			{"applied", func(a *answers) { a.applied(id, was) }, "u1", false, true},
			{"applied, another", func(a *answers) { a.applied(id, was) }, "u2", false, false},
			{"applied, which is not known", func(a *answers) { a.applied(id, was) }, "", false, false},
			{"applied, then awaited to go", func(a *answers) { a.applied(id, was) }, "u1", true, false},
			{"deleted", func(a *answers) { a.leaving(id, "u1", nil) }, "u1", true, true},
			{"deleted by name", func(a *answers) { a.leaving(id, "u1", was) }, "", true, true},
			{"deleted, made anew by somebody, awaited to be ready", func(a *answers) { a.leaving(id, "u1", was) }, "", false, false},
			{"deleted long ago", func(a *answers) { a.leaving(id, "u1", nil); time.Sleep(answerAge) }, "u1", true, false},
			{"deleted, then asked for anew", func(a *answers) { a.leaving(id, "u1", nil); a.drop(id) }, "u1", true, false},
		} {
			var a answers
			c.given(&a)
			if _, ok := a.take(id, c.uid, c.gone); ok != c.want {
				t.Errorf("%s: %v", c.name, ok)
			}
			if _, ok := a.take(id, c.uid, c.gone); ok {
				t.Errorf("%s: used twice", c.name)
			}
		}
	})
}
