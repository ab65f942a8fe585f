package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// WriterOptions tunes a Writer; the zero value is the default.
type WriterOptions struct {
	// BlockBytes is the size at which a block is written out; 0 means 256 KiB. Memory of a
	// Writer is a few blocks whatever the run's length.
	BlockBytes int
	// FlushEvery is the longest time a written record stays in memory only; 0 means 1 s.
	FlushEvery time.Duration
	// SyncBytes is how much may be written between two syncs to the disk; 0 means 16 MiB.
	// Every timed flush syncs as well.
	SyncBytes int64
}

func (o WriterOptions) withDefaults() WriterOptions {
	if o.BlockBytes <= 0 {
		o.BlockBytes = 256 << 10
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = time.Second
	}
	if o.SyncBytes <= 0 {
		o.SyncBytes = 16 << 20
	}
	return o
}

// syncer is the part of *os.File that makes written bytes survive a crash.
type syncer interface{ Sync() error }

// Writer appends records to one file. It is safe for concurrent use; order in the file is
// the order of Write calls only within a goroutine. The first failure sticks and comes
// back from every later call, so that a full disk stops a run at once.
type Writer struct {
	opt  WriterOptions
	tick int64
	name string

	mu      sync.Mutex // guards block, count, totals, timer, err, closed
	block   []byte
	count   int
	records int64
	events  int64
	timer   *time.Timer
	err     error
	closed  bool

	pending sync.WaitGroup // blocks taken from under mu and not yet written; Close waits

	out      sync.Mutex // serialises writes to dst; taken after mu is released
	dst      io.Writer
	unsynced int64

	scratch sync.Pool
	spare   sync.Pool
}

// Create makes a new record file (mode 0600; an existing file is an error, records are never
// overwritten) and writes its head.
func Create(path string, h Header, opt WriterOptions) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create record file: %w", err)
	}
	w, err := NewWriter(f, h, opt)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.name = path
	return w, nil
}

// NewWriter writes h to dst and returns a Writer on it. If dst has Sync or Close, Sync and
// Close call them.
func NewWriter(dst io.Writer, h Header, opt WriterOptions) (*Writer, error) {
	if h.Tick <= 0 {
		h.Tick = int64(DefaultTick)
	}
	head, err := appendHead(nil, h)
	if err != nil {
		return nil, err
	}
	if _, err := dst.Write(head); err != nil {
		return nil, fmt.Errorf("write head of record file: %w", err)
	}
	w := &Writer{opt: opt.withDefaults(), tick: h.Tick, dst: dst, name: h.Scenario}
	w.block = make([]byte, blockHeadLen, w.opt.BlockBytes+blockHeadLen)
	return w, nil
}

// Write appends r. It keeps nothing of r after returning. Events' times are rounded down to
// the header's tick. Errors: the record cannot be encoded (that record only), or the
// file could not be written (sticks).
func (w *Writer) Write(r Record) error {
	buf := w.takeScratch()
	defer func() { w.scratch.Put(buf) }()
	enc, err := appendRecord((*buf)[:0], &r, w.tick)
	*buf = enc
	if err != nil {
		return err
	}
	if len(enc) > maxBlock {
		return fmt.Errorf("record %d has %d bytes, limit %d", r.Index, len(enc), maxBlock)
	}
	w.mu.Lock()
	if err := w.usable(); err != nil {
		w.mu.Unlock()
		return err
	}
	var full []byte
	var fullCount int
	if w.count > 0 && len(w.block)+len(enc) > w.opt.BlockBytes+blockHeadLen {
		full, fullCount = w.swapLocked()
	}
	w.block = append(w.block, enc...)
	w.count++
	w.records++
	w.events += int64(len(r.Events))
	w.armLocked()
	w.mu.Unlock()
	if full == nil {
		return nil
	}
	return w.emit(full, fullCount, false)
}

func (w *Writer) takeScratch() *[]byte {
	if b, ok := w.scratch.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 8<<10)
	return &b
}

func (w *Writer) usable() error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("record file %s: write after close", w.name)
	}
	return nil
}

// swapLocked takes the current block, to be handed to emit, and puts an empty one in its place.
func (w *Writer) swapLocked() ([]byte, int) {
	full, n := w.block, w.count
	if b, ok := w.spare.Get().(*[]byte); ok {
		w.block = (*b)[:blockHeadLen]
	} else {
		w.block = make([]byte, blockHeadLen, w.opt.BlockBytes+blockHeadLen)
	}
	w.count = 0
	w.pending.Add(1)
	return full, n
}

// armLocked starts the flush timer when the first record of a block arrives, so that an
// idle Writer owns no goroutine and no running timer.
func (w *Writer) armLocked() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.opt.FlushEvery, w.timed)
	}
}

// timed is the timer's flush; its failure sticks and reaches the next caller.
func (w *Writer) timed() {
	if err := w.Flush(); err != nil {
		w.stick(err)
	}
}

func (w *Writer) stick(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// Flush writes out what is buffered and syncs it to the disk. After it returns, a crash
// loses nothing written before the call.
func (w *Writer) Flush() error {
	w.mu.Lock()
	if w.closed {
		defer w.mu.Unlock()
		return w.err
	}
	return w.flushLocked()
}

// flushLocked is Flush with mu held; it releases mu.
func (w *Writer) flushLocked() error {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	block, n := w.swapLocked()
	w.mu.Unlock()
	return w.emit(block, n, true)
}

// emit frames block and writes it; an empty block only syncs.
func (w *Writer) emit(block []byte, count int, sync bool) error {
	defer w.pending.Done()
	w.out.Lock()
	defer w.out.Unlock()
	if count > 0 {
		putBlockHead(block, count)
		if err := w.writeLocked(block); err != nil {
			return err
		}
	}
	w.spare.Put(&block)
	if !sync && w.unsynced < w.opt.SyncBytes {
		return nil
	}
	return w.syncLocked()
}

func (w *Writer) writeLocked(b []byte) error {
	n, err := w.dst.Write(b)
	w.unsynced += int64(n)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write records to %s: %w", w.name, err)
	w.stick(err)
	return err
}

func (w *Writer) syncLocked() error {
	s, ok := w.dst.(syncer)
	if !ok || w.unsynced == 0 {
		return nil
	}
	if err := s.Sync(); err != nil {
		err = fmt.Errorf("sync records to %s: %w", w.name, err)
		w.stick(err)
		return err
	}
	w.unsynced = 0
	return nil
}

// Totals are the records and events accepted so far.
func (w *Writer) Totals() (records, events int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records, w.events
}

// Close flushes, writes the footer that marks the file complete, syncs and closes. Calling
// it again does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	w.pending.Wait()
	w.mu.Lock()
	err := w.flushLocked()
	if err == nil {
		err = w.emitFooter()
	}
	if c, ok := w.dst.(io.Closer); ok {
		if cerr := c.Close(); cerr != nil {
			err = errors.Join(err, fmt.Errorf("close record file %s: %w", w.name, cerr))
		}
	}
	return err
}

func (w *Writer) emitFooter() error {
	records, events := w.Totals()
	foot := make([]byte, blockHeadLen, blockHeadLen+20)
	foot = binary.AppendUvarint(foot, uint64(records))
	foot = binary.AppendUvarint(foot, uint64(events))
	putBlockHead(foot, 0)
	w.out.Lock()
	defer w.out.Unlock()
	if err := w.writeLocked(foot); err != nil {
		return err
	}
	return w.syncLocked()
}
