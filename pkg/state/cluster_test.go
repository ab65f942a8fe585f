package state_test

import (
	"testing"

	"github.com/mifbench/mifbench/pkg/state"
)

func TestClusterIDs(t *testing.T) {
	both := state.ClusterID{UID: "u", CA: "c"}
	for name, c := range map[string]struct {
		a, b             state.ClusterID
		same, comparable bool
	}{
		"both parts":                 {both, both, true, true},
		"the UID decides":            {both, state.ClusterID{UID: "u", CA: "renewed"}, true, true},
		"a copy of the CA":           {both, state.ClusterID{UID: "v", CA: "c"}, false, true},
		"one knows only the CA":      {both, state.ClusterID{CA: "c"}, true, true},
		"both know only the CA":      {state.ClusterID{CA: "c"}, state.ClusterID{CA: "d"}, false, true},
		"nothing in common":          {state.ClusterID{UID: "u"}, state.ClusterID{CA: "c"}, false, false},
		"nothing known":              {state.ClusterID{}, both, false, false},
		"neither knows anything yet": {state.ClusterID{}, state.ClusterID{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if same, comparable := c.a.Same(c.b); same != c.same || comparable != c.comparable {
					t.Errorf("%v and %v: %v %v", c.a, c.b, same, comparable)
				}
				c.a, c.b = c.b, c.a
			}
		})
	}
}

func TestClusterOfAState(t *testing.T) {
	st := state.New("s")
	st.SetCluster(state.ClusterID{UID: "u", CA: "c"})
	st.SetCluster(state.ClusterID{CA: "renewed"})
	text, err := state.Encode(st)
	if err != nil {
		t.Fatal(err)
	}
	again, err := state.Decode(text)
	if want := (state.ClusterID{UID: "u", CA: "renewed"}); err != nil || again.Cluster() != want {
		t.Errorf("%v, %v", again.Cluster(), err)
	}
}
