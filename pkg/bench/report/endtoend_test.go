package report

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/metrics"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// A window can be changed without the run: file, summary, report.
func TestReportFromAFileWithAnotherWindow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.mifrec")
	w, err := record.Create(path, record.Header{Scenario: "sharegpt-64"}, record.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sampleRecords() {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	blocks := map[string]bool{}
	for _, warmup := range []time.Duration{3 * time.Second, 5 * time.Second} {
		o := metrics.Options{Window: metrics.WindowSpec{Warmup: warmup, Cooldown: 3 * time.Second}}
		views, err := metrics.SummarizeViews(record.All(path), o, metrics.Views()...)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		d := Data{Results: []Result{{Name: "sharegpt-64", Views: views, Params: Params{Warmup: warmup, Cooldown: 3 * time.Second}}}}
		if err := VLLM(&got, d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), "Warm-up Time:                            "+pythonFloat(warmup.Seconds())+"\n") {
			t.Errorf("block\n%s", got.String())
		}
		blocks[got.String()] = true
	}
	if len(blocks) != 2 {
		t.Error("the window changes nothing")
	}
}
