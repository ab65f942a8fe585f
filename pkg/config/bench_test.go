package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/config"
)

// generated is a configuration of n objects: services of two objects each, a fifth of them
// by for_each, all of which refer to a first one, to a local and to a variable.
func generated(n int) string {
	var b strings.Builder
	b.WriteString("variable \"suffix\" {\n  type    = string\n  default = \"x\"\n}\n")
	b.WriteString("locals {\n  labels = { team = \"serving\" }\n}\nservice \"first\" {\n  name = \"first\"\n}\n")
	for i := range n / 10 {
		for j := range 4 {
			fmt.Fprintf(&b, "service \"s%d-%d\" {\n  name     = \"s%d-%d-${var.suffix}-${service.first.host}\"\n  replicas = 1 + %d\n  labels   = merge(local.labels, { index = \"%d\" })\n  port \"http\" {\n    number = 80\n  }\n}\n", i, j, i, j, j, i)
		}
		fmt.Fprintf(&b, "service \"e%d\" {\n  for_each = toset([\"a\"])\n  name     = \"e%d-${each.key}-${service.s%d-0.host}\"\n}\n", i, i, i)
	}
	return b.String()
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := dirOf(b, map[string]string{"main.mif.hcl": generated(n)})
			for b.Loop() {
				c, diags := config.Load(dir, config.Options{Kinds: fakeKinds()})
				fatal(b, c, diags)
				if got := len(c.Objects()); got != n+2 {
					b.Fatalf("%d objects", got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/object")
		})
	}
}

// BenchmarkForEach is one block of many instances.
func BenchmarkForEach(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := dirOf(b, map[string]string{"main.mif.hcl": fmt.Sprintf("locals { shared = { a = 1 } }\nservice \"s\" {\n  count = %d\n  name = \"s-${count.index}-${local.shared.a}\"\n}\n", n/2)})
			for b.Loop() {
				c, diags := config.Load(dir, config.Options{Kinds: fakeKinds()})
				fatal(b, c, diags)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/object")
		})
	}
}
