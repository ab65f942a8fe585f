package record

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite golden files")

func testHeader() Header {
	return Header{
		Scenario: "sharegpt-512", Seed: 42, Clock: "kernel",
		Start: time.Date(2025, 12, 12, 8, 0, 0, 0, time.UTC), Tick: int64(DefaultTick),
		Meta: map[string]string{"tool": "0.1.0"},
	}
}

// published is a request as the published load makes them: ITL about 164 ms.
func published(rng *rand.Rand, index int64, tokens int) Record {
	sent := index * int64(7*time.Millisecond)
	r := Record{
		Index: index, Intended: sent, Sent: sent + 1234, Connected: sent + 2000, FirstByte: sent + 3000,
		Status: OK, HTTPStatus: 200, PromptTokens: 512, UsagePrompt: 512, UsageCompletion: int32(tokens),
		CachedTokens: -1, MaxTokens: int32(tokens), FinishReason: "length", KernelClock: true, MaxLag: 55_000,
	}
	at := sent + int64(1700*time.Millisecond)
	for range tokens {
		r.Events = append(r.Events, Event{At: at, Tokens: 1})
		at += int64(164*time.Millisecond) + rng.Int64N(int64(40*time.Millisecond)) - int64(20*time.Millisecond)
	}
	r.Done = at
	return r
}

// anyRecord is an arbitrary record within the format's limits.
func anyRecord(rng *rand.Rand) Record {
	statuses := []Status{OK, Dropped, Cancelled, Dial, TLS, HTTP, FirstByte, Idle, Reset, Truncated, InStream, Decode, NoTokens, Timeout, "a status of the future"}
	instant := func() int64 { return rng.Int64N(1<<50) - 1<<48 }
	r := Record{
		Index: rng.Int64(), Intended: instant(), Sent: instant(), MaxLag: rng.Int64(),
		Status: statuses[rng.IntN(len(statuses))], HTTPStatus: rng.IntN(600), Error: strings.Repeat("é", rng.IntN(9)),
		PromptTokens: rng.Int32() - 1<<30, UsagePrompt: rng.Int32() - 1, UsageCompletion: -1, CachedTokens: rng.Int32(),
		MaxTokens: rng.Int32(), FinishReason: "stop", ReasoningEvents: rng.Int32(), Target: rng.Int32(), KernelClock: rng.IntN(2) == 0,
	}
	for _, p := range []*int64{&r.Connected, &r.FirstByte, &r.Done} {
		if rng.IntN(3) > 0 {
			*p = instant()
		}
	}
	for range rng.IntN(50) {
		r.Events = append(r.Events, Event{At: instant(), Tokens: rng.Int32N(5), Coalesced: rng.IntN(4) == 0})
	}
	return r
}

func floored(r Record, tick int64) Record {
	r.Events = slices.Clone(r.Events)
	for i := range r.Events {
		r.Events[i].At = floorDiv(r.Events[i].At, tick) * tick
	}
	return r
}

func writeAll(t *testing.T, h Header, opt WriterOptions, records []Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, h, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readAll(data []byte) ([]Record, *Reader, error) {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	var out []Record
	for {
		var rec Record
		if err := r.Next(&rec); err != nil {
			return out, r, err
		}
		out = append(out, rec)
	}
}

func TestRoundTripIsExactUpToTheTick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tick := range []int64{1, 1000, 4096} {
		for range 30 {
			h := testHeader()
			h.Tick = tick
			var in, want []Record
			for range 1 + rng.IntN(20) {
				r := anyRecord(rng)
				in, want = append(in, r), append(want, floored(r, tick))
			}
			got, rd, err := readAll(writeAll(t, h, WriterOptions{BlockBytes: 1 << (4 + rng.IntN(10))}, in))
			if !errors.Is(err, io.EOF) || !rd.Complete() {
				t.Fatalf("end of file: %v, complete %v", err, rd.Complete())
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("tick %d (-want +got):\n%s", tick, d)
			}
			if d := cmp.Diff(h, rd.Header()); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func TestPublishedLoadTakesAtMostThreeBytesAnEvent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var records []Record
	events := 0
	for i := range int64(200) {
		records = append(records, published(rng, i, 512))
		events += 512
	}
	data := writeAll(t, testHeader(), WriterOptions{}, records)
	without := slices.Clone(records)
	for i := range without {
		without[i].Events = nil
	}
	base := writeAll(t, testHeader(), WriterOptions{}, without)
	per := float64(len(data)-len(base)) / float64(events)
	t.Logf("%.3f bytes an event, %.1f bytes a request besides", per, float64(len(base))/200)
	if per > 3.01 {
		t.Fatalf("%.3f bytes an event, want at most 3 (and the length of the list)", per)
	}
}

func TestDamageKeepsEverythingBeforeIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var in []Record
	for i := range int64(40) {
		in = append(in, floored(published(rng, i, 30), 1000))
	}
	data := writeAll(t, testHeader(), WriterOptions{BlockBytes: 512}, in)
	_, whole, _ := readAll(data)
	headLen := whole.offset - int64(len(data)) // all blocks read: offset is the file's length
	if headLen != 0 {
		t.Fatalf("offset at the end is %d, file has %d bytes", whole.offset, len(data))
	}
	for cut := 200; cut < len(data); cut += 151 {
		got, _, err := readAll(data[:cut])
		checkPrefix(t, in, got)
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, io.EOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	for at := 300; at < len(data); at += 157 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x10
		got, _, err := readAll(bad)
		checkPrefix(t, in, got)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "at byte ") {
			t.Fatalf("flip at %d: error %v does not tell damage and offset", at, err)
		}
	}
}

func checkPrefix(t *testing.T, want, got []Record) {
	t.Helper()
	if len(got) > len(want) {
		t.Fatalf("%d records, only %d were written", len(got), len(want))
	}
	if d := cmp.Diff(want[:len(got)], got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("records before the damage differ:\n%s", d)
	}
}

func TestKilledRunIsReadableUpToTheLastFlush(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.mifrec")
	w, err := Create(path, testHeader(), WriterOptions{FlushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range int64(10) {
		r := published(rng, i, 10)
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		if i == 6 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := Verify(path) // the writer is not closed: as after a kill
	if err != nil || info.Records != 7 || info.Complete {
		t.Fatalf("info %+v, error %v; want 7 records of an incomplete file", info, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err = Verify(path)
	if err != nil || info.Records != 10 || info.Events != 100 || !info.Complete {
		t.Fatalf("after close: %+v, %v", info, err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", st.Mode(), err)
	}
	if _, err := Create(path, testHeader(), WriterOptions{}); err == nil {
		t.Fatal("an existing record file was overwritten")
	}
}

func TestTimedFlushWritesWithoutFurtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf lockedBuffer
		w, err := NewWriter(&buf, testHeader(), WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		head := buf.Len()
		r := anyRecord(rand.New(rand.NewPCG(1, 1)))
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if buf.Len() != head {
			t.Fatal("written before a second was over")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if buf.Len() == head {
			t.Fatal("not written a second after the record")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	var buf lockedBuffer
	w, err := NewWriter(&buf, testHeader(), WriterOptions{BlockBytes: 256, FlushEvery: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range int64(8) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 0))
			for i := range int64(200) {
				r := published(rng, g*200+i, 5)
				if err := w.Write(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, rd, err := readAll(buf.Bytes())
	if !errors.Is(err, io.EOF) || !rd.Complete() || len(got) != 1600 {
		t.Fatalf("%d records, complete %v, %v", len(got), rd.Complete(), err)
	}
	seen := map[int64]bool{}
	for _, r := range got {
		seen[r.Index] = true
	}
	if len(seen) != 1600 {
		t.Fatalf("%d different records", len(seen))
	}
}

// lockedBuffer is a file in memory that may be looked at while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) Len() int { b.mu.Lock(); defer b.mu.Unlock(); return b.buf.Len() }

func (b *lockedBuffer) Bytes() []byte { b.mu.Lock(); defer b.mu.Unlock(); return b.buf.Bytes() }

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestFullDiskStopsEveryLaterWrite(t *testing.T) {
	w, err := NewWriter(&fullDisk{left: 2000}, testHeader(), WriterOptions{BlockBytes: 300, FlushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var first error
	for i := range int64(100) {
		r := published(rng, i, 10)
		if err := w.Write(r); err != nil {
			first = err
			break
		}
	}
	if first == nil || !strings.Contains(first.Error(), "no space left") {
		t.Fatalf("error %v", first)
	}
	r := published(rng, 1, 1)
	if err := w.Write(r); err == nil {
		t.Fatal("a write after the failure passed")
	}
	if err := w.Close(); err == nil {
		t.Fatal("close hides the failure")
	}
}

func TestGoldenVersion2(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	in := []Record{published(rng, 0, 5), {Index: 1, Status: Dropped, UsagePrompt: -1, UsageCompletion: -1, CachedTokens: -1}}
	in = append(in, Record{
		Index: 2, Intended: 5, Sent: 7, Done: 9e9, Status: HTTP, HTTPStatus: 503, Error: "503: no capacity", UsagePrompt: -1, UsageCompletion: -1,
		Events: []Event{{At: 1e9, Tokens: 3, Coalesced: true}, {At: 9e8, Tokens: 1}, {At: 3e9, Tokens: 1}},
	})
	data := writeAll(t, testHeader(), WriterOptions{}, in)
	golden := filepath.Join("testdata", "v2.mifrec")
	if *update {
		if err := os.WriteFile(golden, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, data) {
		t.Fatal("version 2 is written differently: raise the version instead")
	}
	got, _, err := readAll(want)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for i := range in {
		in[i] = floored(in[i], 1000)
	}
	if d := cmp.Diff(in, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}

func TestNewerVersionIsRefusedByName(t *testing.T) {
	data := writeAll(t, testHeader(), WriterOptions{}, nil)
	data[8] = 9
	if _, _, err := readAll(data); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Fatalf("error %v", err)
	}
}

func TestJoinReadsOnAfterADamagedFile(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 9))
	good := []Record{published(rng, 0, 4), published(rng, 1, 4)}
	data := writeAll(t, testHeader(), WriterOptions{BlockBytes: 1}, good)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.WriteFile(a, data[:len(data)-30], 0o600), os.WriteFile(b, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	var n int
	var failed error
	for r, err := range Join(a, b) {
		if err != nil {
			failed = err
			continue
		}
		n++
		_ = r
	}
	if n != 3 || !errors.Is(failed, ErrDamaged) || !strings.Contains(failed.Error(), a) {
		t.Fatalf("%d records, error %v", n, failed)
	}
}
