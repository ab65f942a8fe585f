package deploy_test

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/state"
)

// 500 objects with a state file on disk: the driver is called once an object and step, and the
// file is written no more than once an update.
func TestFiveHundredObjectsScaleLinearly(t *testing.T) {
	ns := object("Namespace", "ns")
	r := newRig(t, ns)
	for i := range 499 {
		o := object("ConfigMap", "c"+strconv.Itoa(i), ns)
		data := map[string]any{}
		for k := range 20 {
			data["key-"+strconv.Itoa(k)] = "value"
		}
		o.Spec = map[string]any{"data": data}
		r.objects = append(r.objects, o)
	}
	local := state.NewLocal(filepath.Join(t.TempDir(), "state.json"))
	start := time.Now()
	p := r.mustPlan(plan.Options{})
	planned := time.Since(start)
	saves := 0
	run := r.run(p)
	run.Store, run.Parallel = local, 10
	run.Emit = func(e deploy.Event) {
		if _, ok := e.(deploy.Saved); ok {
			saves++
		}
	}
	start = time.Now()
	out, err := deploy.Apply(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plan %s, apply %s, %d saves", planned, time.Since(start), saves)
	if applies := len(r.world.Log()); applies != 500 {
		t.Errorf("%d effects for 500 objects", applies)
	}
	if saves > 1001 {
		t.Errorf("%d saves", saves)
	}
	back, err := local.Load(t.Context())
	if err != nil || len(back.Entries) != 500 || back.Serial != out.State.Serial {
		t.Errorf("%d entries, serial %d, %v", len(back.Entries), back.Serial, err)
	}
}
