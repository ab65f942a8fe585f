package dag_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mifbench/mifbench/internal/dag"
)

var errBroken = errors.New("broken")

func results(m map[string]error) map[string]string {
	out := map[string]string{}
	for k, err := range m {
		out[k] = "done"
		if err != nil {
			out[k] = err.Error()
		}
	}
	return out
}

func TestWalkSkipsOnlyWhatDependsOnAFailure(t *testing.T) {
	g := build("a b:a c:b d:c,e e f:e")
	got, err := g.Walk(t.Context(), 2, func(_ context.Context, n string) error {
		if n == "b" {
			return errBroken
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "done", "b": "broken", "e": "done", "f": "done",
		"c": "skipped: b failed: broken", "d": "skipped: b failed: broken",
	}
	if diff := cmp.Diff(want, results(got)); diff != "" {
		t.Error(diff)
	}
	var s *dag.SkippedError[string]
	if !errors.As(got["d"], &s) || s.Failed != "b" || !errors.Is(got["d"], errBroken) {
		t.Errorf("d: %#v", got["d"])
	}
}

func TestWalkOrderAndBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := build("a b c d:a,b,c e:d f:d")
		var mu sync.Mutex
		var log []string
		running, most := 0, 0
		start := time.Now()
		_, err := g.Walk(t.Context(), 2, func(_ context.Context, n string) error {
			mu.Lock()
			running++
			most = max(most, running)
			log = append(log, n)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if most != 2 || time.Since(start) != 4*time.Second {
			t.Errorf("%d at once, %s", most, time.Since(start))
		}
		if i := slices.Index(log, "d"); i != 3 {
			t.Errorf("order %s", strings.Join(log, " "))
		}
	})
}

func TestWalkStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := build("a b:a c:b")
		got, err := g.Walk(ctx, 4, func(ctx context.Context, n string) error {
			if n == "b" {
				cancel(errors.New("interrupted"))
				<-ctx.Done()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a": "done", "b": "done", "c": "interrupted"}
		if diff := cmp.Diff(want, results(got)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWalkRefusesACycle(t *testing.T) {
	got, err := build("a:b b:a").Walk(t.Context(), 1, func(context.Context, string) error {
		t.Error("visited")
		return nil
	})
	if got != nil || err == nil {
		t.Errorf("%v %v", slices.Collect(maps.Keys(got)), err)
	}
}
