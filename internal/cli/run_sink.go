package cli

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/bench"
	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/bench/record"
)

// recordSink creates the record file when the run's clock starts, so that the file's head
// tells instant 0, and writes every record to it.
type recordSink struct {
	path   string
	header record.Header
	w      *record.Writer
	err    error
}

// started is bench.Scenario.Started.
func (s *recordSink) started(c *client.Clock) {
	s.header.Start, s.header.Clock = c.Start(), "monotonic"
	if bench.ReadFacts().KernelStamps {
		s.header.Clock = "kernel"
	}
	s.w, s.err = record.Create(s.path, s.header, record.WriterOptions{})
}

// Write implements bench.Sink.
func (s *recordSink) Write(rec record.Record) error {
	if s.err != nil {
		return fmt.Errorf("records: %w", s.err)
	}
	return s.w.Write(rec)
}

// Close ends the file; a run that never started has none.
func (s *recordSink) Close() error {
	if s.w == nil {
		return nil
	}
	return s.w.Close()
}
