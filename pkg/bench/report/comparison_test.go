package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
)

func TestComparisonSaysWhatDecided(t *testing.T) {
	d := sampleData(t)
	a := d.Results[0].Views[metrics.ViewMifbench]
	b := a
	b.OutputThroughput *= 0.9
	var got bytes.Buffer
	if err := Comparison(&got, "last week", "today", metrics.Compare(a, b, 0.03)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"* output throughput", "-10.0 %  worse", "b is worse", "tolerance 3.0 %"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}
