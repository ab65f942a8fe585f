package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/check"
	"github.com/mifbench/mifbench/pkg/config"
	"github.com/mifbench/mifbench/pkg/resource/kinds"
)

// BenchmarkRun checks copies of the good stack: the time for one object must not grow with
// their number.
func BenchmarkRun(b *testing.B) {
	good, err := os.ReadFile("testdata/good.mif.hcl")
	if err != nil {
		b.Fatal(err)
	}
	_, stack, _ := strings.Cut(string(good), "\n}\n")
	for _, copies := range []int{12, 120, 1200} {
		dir := b.TempDir()
		var all strings.Builder
		for i := range copies {
			all.WriteString(numbered(stack, i))
		}
		if err := os.WriteFile(filepath.Join(dir, "main.mif.hcl"), []byte(all.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		c, diags := config.Load(dir, config.Options{Kinds: kinds.All()})
		if diags.HasErrors() {
			b.Fatal(diags)
		}
		n := len(c.Objects())
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			for b.Loop() {
				if found := check.Run(c); len(found) > 0 {
					b.Fatal(found)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
		})
	}
}

// numbered gives a copy of the stack names of its own.
func numbered(stack string, i int) string {
	n := fmt.Sprint(i)
	return strings.NewReplacer(
		`namespace "bench"`, `namespace "bench`+n+`"`, `name = "bench"`, `name = "bench`+n+`"`, "namespace.bench.", "namespace.bench"+n+".",
		`"moreh"`, `"moreh`+n+`"`, "ecr_credentials.moreh.", "ecr_credentials.moreh"+n+".",
		`gateway "mif"`, `gateway "mif`+n+`"`, "gateway.mif", "gateway.mif"+n,
		`heimdall "heimdall"`, `heimdall "heimdall`+n+`"`, "heimdall.heimdall.", "heimdall.heimdall"+n+".",
		`inference_service "decode"`, `inference_service "decode`+n+`"`, `inference_service "prefill"`, `inference_service "prefill`+n+`"`,
		`manifest "client"`, `manifest "client`+n+`"`, `scenario "one"`, `scenario "one`+n+`"`,
	).Replace(stack)
}
