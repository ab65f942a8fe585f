package report

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/mifbench/mifbench/pkg/bench/record"
)

// eventRow is a row of the parquet format: one token event with what is needed to group it.
type eventRow struct {
	Scenario  string `parquet:"scenario,dict,zstd"`
	Request   int64  `parquet:"request,delta,zstd"`
	Event     int32  `parquet:"event,delta,zstd"`
	At        int64  `parquet:"at_ns,delta,zstd"`
	Gap       int64  `parquet:"gap_ns,delta,zstd"`
	Sent      int64  `parquet:"sent_ns,delta,zstd"`
	Tokens    int32  `parquet:"tokens,dict,zstd"`
	Coalesced bool   `parquet:"coalesced"`
	Status    string `parquet:"status,dict,zstd"`
}

// rowGroup bounds the memory of a Parquet export.
const rowGroup = 1 << 20

// Parquet writes one row a token event. gap_ns counts from the event before it, that of the
// first one from the send.
func Parquet(w io.Writer, d Data) error {
	pw := parquet.NewGenericWriter[eventRow](w, parquet.MaxRowsPerRowGroup(rowGroup))
	var rows []eventRow
	for _, r := range d.Results {
		err := eachRecord(r, func(rec *record.Record) error {
			rows = eventRows(rows[:0], r.Name, rec)
			_, err := pw.Write(rows)
			return err
		})
		if err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
	}
	if err := pw.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func eventRows(rows []eventRow, scenario string, rec *record.Record) []eventRow {
	prev := rec.Sent
	for i := range rec.Events {
		e := &rec.Events[i]
		rows = append(rows, eventRow{
			Scenario: scenario, Request: rec.Index, Event: int32(i), At: e.At, Gap: e.At - prev, Sent: rec.Sent,
			Tokens: e.Tokens, Coalesced: e.Coalesced, Status: string(rec.Status),
		})
		prev = e.At
	}
	return rows
}
