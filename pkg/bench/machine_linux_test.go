package bench

import (
	"testing"
	"time"
)

func TestMachineSince(t *testing.T) {
	at := time.Unix(0, 0)
	a := parseStat([]byte("cpu  100 10 50 1000 20 0 5 30 0 0\ncpu0 1\ncpu1 1\nintr 5\n"), at)
	b := parseStat([]byte("cpu  400 10 150 1800 20 0 5 130 0 0\ncpu0 1\ncpu1 1\nintr 5\n"), at.Add(10*time.Second))
	got := b.since(a, 5*time.Second)
	// 20 s of two cores: 8 idle, 1 stolen, 5 ours, 6 of others.
	if got.Cores != 2 || got.Idle != 0.4 || got.Stolen != 0.05 || got.Others < 0.599 || got.Others > 0.601 {
		t.Errorf("%+v", got)
	}
	if got := (machine{}).since(a, 0); got != (Machine{}) {
		t.Errorf("unreadable: %+v", got)
	}
	if m := readMachine(); m.cores < 1 || m.idle <= 0 {
		t.Errorf("this machine: %+v", m)
	}
}
