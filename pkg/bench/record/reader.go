package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
)

// Reader reads a record file front to back with the memory of one block.
type Reader struct {
	head     Header
	src      *bufio.Reader
	offset   int64 // of the next unread byte
	block    []byte
	dec      decoder
	left     int // records left in the block
	blockAt  int64
	records  int64
	events   int64
	complete bool
	err      error
}

// NewReader reads the head of src. Errors wrap ErrDamaged.
func NewReader(src io.Reader) (*Reader, error) {
	br := bufio.NewReaderSize(src, 64<<10)
	h, n, err := readHead(br)
	if err != nil {
		return nil, err
	}
	return &Reader{head: h, src: br, offset: n}, nil
}

// Header is the file's header.
func (r *Reader) Header() Header { return r.head }

// Complete tells, after Next returned io.EOF, whether the file was closed by its writer. A
// run that was killed leaves a file that ends cleanly without being complete.
func (r *Reader) Complete() bool { return r.complete }

// Totals are the records and events read so far.
func (r *Reader) Totals() (records, events int64) { return r.records, r.events }

// Next decodes the next record into rec, reusing rec.Events. It returns io.EOF at a clean end
// and otherwise an error that wraps ErrDamaged with the byte offset; every record before
// the damage has been returned by then.
func (r *Reader) Next(rec *Record) error {
	if r.err != nil {
		return r.err
	}
	for r.left == 0 {
		if err := r.nextBlock(); err != nil {
			r.err = err
			return err
		}
	}
	if err := r.dec.record(rec, r.head.Tick); err != nil {
		r.err = damage(r.blockAt, "record in block", err)
		return r.err
	}
	r.left--
	if r.left == 0 && r.dec.off != len(r.dec.b) {
		r.err = damage(r.blockAt, "block", errors.New("bytes after its last record"))
	}
	r.records++
	r.events += int64(len(rec.Events))
	return nil
}

// nextBlock loads the next block and its checks; io.EOF only at a block boundary.
func (r *Reader) nextBlock() error {
	var head [blockHeadLen]byte
	n, err := io.ReadFull(r.src, head[:])
	if n == 0 && errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return r.readFailure("block head", err)
	}
	if r.complete {
		return damage(r.offset, "block", errors.New("bytes after the footer"))
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size > maxBlock {
		return damage(r.offset, "block head", fmt.Errorf("block length %d is over the limit %d", size, maxBlock))
	}
	if err := r.fill(size); err != nil {
		return r.readFailure("block", err)
	}
	crc := crc32.Update(crc32.Checksum(head[:8], crcTable()), crcTable(), r.block)
	if crc != binary.LittleEndian.Uint32(head[8:]) {
		return damage(r.offset, "block", errors.New("checksum does not match"))
	}
	r.blockAt = r.offset
	r.offset += int64(blockHeadLen + size)
	r.dec = decoder{b: r.block}
	r.left = int(binary.LittleEndian.Uint32(head[4:]))
	if r.left == 0 {
		return r.footer()
	}
	return nil
}

// fill reads size bytes in steps, so that a damaged length costs no more memory than the
// file has bytes.
func (r *Reader) fill(size int) error {
	const step = 1 << 20
	r.block = r.block[:0]
	for len(r.block) < size {
		n := min(step, size-len(r.block))
		at := len(r.block)
		if cap(r.block) < at+n {
			grown := make([]byte, at, max(2*cap(r.block), at+n))
			copy(grown, r.block)
			r.block = grown
		}
		r.block = r.block[:at+n]
		if _, err := io.ReadFull(r.src, r.block[at:]); err != nil {
			return err
		}
	}
	return nil
}

// readFailure tells damage (the file ends early) from trouble of the file system.
func (r *Reader) readFailure(part string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damage(r.offset, part, err)
	}
	return fmt.Errorf("read record file at byte %d: %w", r.offset, err)
}

func (r *Reader) footer() error {
	records, events, err := r.dec.footer()
	if err != nil {
		return damage(r.blockAt, "footer", err)
	}
	if records != r.records || events != r.events {
		return damage(r.blockAt, "footer", fmt.Errorf("it counts %d records and %d events, the file holds %d and %d", records, events, r.records, r.events))
	}
	r.complete = true
	return nil
}

// All reads the records of the file at path, opening it anew at each iteration. The yielded
// record, its events too, is valid until the next step: keep its Clone. A failure is yielded last, with a nil record, after
// everything that could be read; it names the file and, for damage, wraps ErrDamaged.
func All(path string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("open record file: %w", err))
			return
		}
		defer f.Close() //nolint:errcheck // opened for reading: nothing can be lost
		r, err := NewReader(f)
		var rec Record
		for err == nil {
			if err = r.Next(&rec); err == nil && !yield(&rec, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) || errors.Is(err, ErrDamaged) {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

// Join reads several files (those of the pods of one run) as one set of records, in the order
// given. Each file's failure is yielded when it occurs; the files after it are still read.
func Join(paths ...string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for _, p := range paths {
			for rec, err := range All(p) {
				if !yield(rec, err) {
					return
				}
			}
		}
	}
}

// Info is what can be said of a file after reading it through.
type Info struct {
	Header          Header
	Records, Events int64
	// Complete is false when the writer never closed the file (killed run).
	Complete bool
}

// Verify reads the file at path through and returns its totals; with an error that wraps
// ErrDamaged the totals count what is good.
func Verify(path string) (Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return Info{}, fmt.Errorf("open record file: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing can be lost
	r, err := NewReader(f)
	if err != nil {
		return Info{}, fmt.Errorf("%s: %w", path, err)
	}
	var rec Record
	for err == nil {
		err = r.Next(&rec)
	}
	info := Info{Header: r.head, Records: r.records, Events: r.events, Complete: r.complete}
	if errors.Is(err, io.EOF) && !errors.Is(err, ErrDamaged) {
		return info, nil
	}
	return info, fmt.Errorf("%s: %w", path, err)
}
