package record

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
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

// BenchmarkLongestRun writes and reads back the longest published run, 32,400 requests of
// 2,000 tokens, through a file: bytes an event and events a second on one core. It takes
// 200 MB of disk and some seconds, so it must be asked for.
func BenchmarkLongestRun(b *testing.B) {
	if os.Getenv("MIFBENCH_HEAVY") == "" {
		b.Skip("64.8 M events: MIFBENCH_HEAVY=1")
	}
	const requests, tokens = 32400, 2000
	runtime.GOMAXPROCS(1)
	path := filepath.Join(b.TempDir(), "records")
	rng := rand.New(rand.NewPCG(1, 2))
	var some []Record // different enough; making 65 M random times would be most of the time
	for i := range int64(64) {
		some = append(some, published(rng, i, tokens))
	}
	for b.Loop() {
		w, err := Create(path, testHeader(), WriterOptions{})
		if err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		for i := range int64(requests) {
			r := some[i%64]
			r.Index = i
			if err := w.Write(r); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		wrote, events := time.Since(begin), int64(0)
		begin = time.Now()
		for r, err := range All(path) {
			if err != nil {
				b.Fatal(err)
			}
			events += int64(len(r.Events))
		}
		read := time.Since(begin)
		info, err := os.Stat(path)
		if err != nil || events != requests*tokens {
			b.Fatalf("%d events, %v", events, err)
		}
		b.ReportMetric(float64(info.Size())/float64(events), "bytes/event")
		b.ReportMetric(float64(events)/wrote.Seconds()/1e6, "Mwritten/s")
		b.ReportMetric(float64(events)/read.Seconds()/1e6, "Mread/s")
	}
}
