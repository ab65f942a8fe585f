package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// The file format, version 2. All fixed-width integers are little-endian.
//
//	file   = magic[8] version:u16 headerLen:u32 header[JSON] headerCRC:u32 block* footer?
//	block  = payloadLen:u32 count:u32 crc:u32 payload     crc over payloadLen, count, payload
//	footer = a block with count 0; payload = uvarint(records) uvarint(events)
//
// A block holds count whole records (see encode.go). The footer is written by Close:
// a file without one belongs to a run that was killed, and everything in it is good.
// Checksums are CRC-32C. Token times are the only field that is rounded (down to
// Header.Tick), because a nanosecond stamp of a 164 ms gap cannot fit three bytes.
const (
	magic         = "\x89MIFREC\n"
	formatVersion = 2
	blockHeadLen  = 12
	// maxHeader and maxBlock bound what a damaged length can make the reader allocate.
	maxHeader = 1 << 20
	maxBlock  = 64 << 20
	// DefaultTick is the resolution of token times: one microsecond is far below the
	// client's own timing error and keeps gaps that differ by less than 0.52 s within
	// three bytes, by less than 4 ms within two.
	DefaultTick = time.Microsecond
)

// ErrDamaged is wrapped by every error about the content of a record file, so that a
// caller can keep what was read and go on; errors of the file system do not wrap it.
var ErrDamaged = errors.New("record file is damaged")

// Header is written once at the head of a file. It holds no secrets and no prompts.
type Header struct {
	// Scenario is the scenario's name.
	Scenario string `json:"scenario"`
	// Seed is the seed of schedule and prompts.
	Seed int64 `json:"seed"`
	// Clock says what Event.At was taken from: "kernel" or "monotonic".
	Clock string `json:"clock"`
	// Start is the wall time of instant 0 of the records.
	Start time.Time `json:"start"`
	// Tick is the resolution of token times in ns; 0 means DefaultTick.
	Tick int64 `json:"tick_ns"`
	// Meta is free text for people and reports (tool version, pod index); nil if none.
	Meta map[string]string `json:"meta,omitempty"`
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// appendHead appends the file's head for h.
func appendHead(dst []byte, h Header) ([]byte, error) {
	js, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode record header of scenario %q: %w", h.Scenario, err)
	}
	if len(js) > maxHeader {
		return nil, fmt.Errorf("record header of scenario %q has %d bytes, limit %d: shorten its meta", h.Scenario, len(js), maxHeader)
	}
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint16(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(js)))
	dst = append(dst, js...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(js, crcTable())), nil
}

// readHead reads the file's head and returns it with its length in bytes.
func readHead(r io.Reader) (Header, int64, error) {
	var fixed [len(magic) + 6]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return Header{}, 0, damage(0, "head", err)
	}
	if string(fixed[:len(magic)]) != magic {
		return Header{}, 0, damage(0, "head", errors.New("not a record file (wrong magic)"))
	}
	if v := binary.LittleEndian.Uint16(fixed[len(magic):]); v != formatVersion {
		return Header{}, 0, damage(8, "head", fmt.Errorf("version %d, this program reads version %d: use the mifbench that wrote it", v, formatVersion))
	}
	n := binary.LittleEndian.Uint32(fixed[len(magic)+2:])
	if n > maxHeader {
		return Header{}, 0, damage(10, "head", fmt.Errorf("header length %d is over the limit %d", n, maxHeader))
	}
	body := make([]byte, n+4)
	if _, err := io.ReadFull(r, body); err != nil {
		return Header{}, 0, damage(14, "header", err)
	}
	if crc32.Checksum(body[:n], crcTable()) != binary.LittleEndian.Uint32(body[n:]) {
		return Header{}, 0, damage(14, "header", errors.New("checksum does not match"))
	}
	var h Header
	if err := json.Unmarshal(body[:n], &h); err != nil {
		return Header{}, 0, damage(14, "header", err)
	}
	if h.Tick <= 0 || h.Tick > int64(time.Second) {
		return Header{}, 0, damage(14, "header", fmt.Errorf("tick of %d ns", h.Tick))
	}
	return h, int64(len(fixed)) + int64(len(body)), nil
}

// damage wraps err as damage of part at a byte offset. A file that ends early is
// damage, too: io.EOF must not look like a clean end to the caller.
func damage(offset int64, part string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w at byte %d (%s): %w", ErrDamaged, offset, part, err)
}

// putBlockHead fills the 12 bytes before the payload of block (head included).
func putBlockHead(block []byte, count int) {
	binary.LittleEndian.PutUint32(block, uint32(len(block)-blockHeadLen))
	binary.LittleEndian.PutUint32(block[4:], uint32(count))
	crc := crc32.Checksum(block[:8], crcTable())
	crc = crc32.Update(crc, crcTable(), block[blockHeadLen:])
	binary.LittleEndian.PutUint32(block[8:], crc)
}
