package calibrate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/benchtest"
	"github.com/mifbench/mifbench/pkg/bench/calibrate"
	"github.com/mifbench/mifbench/pkg/bench/client"
)

func TestServerWithoutStampsIsRefused(t *testing.T) {
	s := benchtest.Start(t, nil, func(benchtest.Request) []benchtest.Step { return benchtest.Stream(32, 0, time.Millisecond) })
	_, err := calibrate.Run(t.Context(), calibrate.Plan{Client: client.Options{BaseURLs: []string{s.URL}}, Params: client.Params{Model: "m"}})
	if err == nil || !strings.Contains(err.Error(), "--stamp") {
		t.Errorf("error %v", err)
	}
}
