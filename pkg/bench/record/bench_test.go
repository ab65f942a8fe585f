package record

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

func benchData(b *testing.B, requests int64, tokens int) []byte {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var buf bytes.Buffer
	w, err := NewWriter(&buf, testHeader(), WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range requests {
		r := published(rng, i, tokens)
		if err := w.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// BenchmarkRead reports events a second on one core, checksums included.
func BenchmarkRead(b *testing.B) {
	data := benchData(b, 2000, 512)
	b.ReportAllocs()
	var events int64
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		var rec Record
		for r.Next(&rec) == nil {
			events += int64(len(rec.Events))
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
	b.SetBytes(int64(len(data)))
}

func BenchmarkWrite(b *testing.B) {
	r := published(rand.New(rand.NewPCG(1, 2)), 7, 512)
	w, err := NewWriter(io.Discard, testHeader(), WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*512/b.Elapsed().Seconds()/1e6, "Mevents/s")
}
