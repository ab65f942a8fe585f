package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// many is n objects of one block.
const many = `
mifbench {
  stack = "e2e"
}
cluster {
  context = "localcluster"
}
variable "level" {
  type    = string
  default = "low"
}
namespace "bench" {
  name = "e2e"
}
manifest "many" {
  count = N
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "many-${count.index}", namespace = namespace.bench.name }
    data       = { level = var.level, index = tostring(count.index) }
  }
}
`

// cost is what one command took.
type cost struct {
	reads, dryRuns, writes int
	memory                 int64 // peak resident set, MB
	wall                   time.Duration
}

func (c cost) requests() int { return c.reads + c.dryRuns + c.writes }

// measure runs a command and counts.
func (u stormy) measure(code int, args ...string) cost {
	u.t.Helper()
	before := len(u.p.Requests())
	var out bytes.Buffer
	cmd := u.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if exitCode(err) != code {
		u.t.Fatalf("mifbench %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	for _, r := range u.p.Requests()[before:] {
		switch {
		case r.Writes():
			c.writes++
		case r.DryRun:
			c.dryRuns++
		default:
			c.reads++
		}
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.memory = usage.Maxrss >> 10
	}
	u.t.Logf("%-40s %d reads, %d dry-runs, %d writes, %d MB, %.1f s", strings.Join(args, " "), c.reads, c.dryRuns, c.writes, c.memory, c.wall.Seconds())
	return c
}

// TestFiveHundredObjects: requests grow with the objects and by no more than they must, memory
// stays small. Not parallel: its figures are to be read.
func TestFiveHundredObjects(t *testing.T) {
	sizes := []int{50, 500}
	first, noop := map[int]cost{}, map[int]cost{}
	for _, n := range sizes {
		stack := fmt.Sprintf("scale-%d", n)
		u := newStormy(t, "tiny.mif.hcl", stack)
		u.write("stack.mif.hcl", strings.ReplaceAll(strings.Replace(many, "count = N", fmt.Sprintf("count = %d", n), 1), "e2e", stack))
		u.measure(2, "plan", "--detailed-exitcode")
		first[n] = u.measure(0, "apply", "--auto-approve")
		noop[n] = u.measure(0, "plan", "--detailed-exitcode")
		changed := u.measure(0, "apply", "--auto-approve", "--var", "level=high")
		gone := u.measure(0, "destroy", "--auto-approve")
		objects := n + 1
		if c := noop[n]; c.dryRuns > objects || c.reads > objects+10 || c.writes > 0 {
			t.Errorf("a plan of %d objects without changes: %+v", objects, c)
		}
		if c := first[n]; c.writes != objects {
			t.Errorf("%d writes for %d objects", c.writes, objects)
		}
		for _, c := range []cost{first[n], noop[n], changed, gone} {
			if c.memory > 300 {
				t.Errorf("%d MB for %d objects", c.memory, n)
			}
		}
	}
	small, large := sizes[0], sizes[1]
	more := large - small
	if got := noop[large].requests() - noop[small].requests(); got > 2*more {
		t.Errorf("%d more objects cost a plan %d more requests", more, got)
	}
	// Plan: read, dry-run, rehearsal in a namespace that exists. Apply: read, write, look at readiness.
	if got := first[large].requests() - first[small].requests(); got > 6*more+more/10 {
		t.Errorf("%d more objects cost a first apply %d more requests", more, got)
	}
}
