package client

import (
	"bytes"
	"errors"
)

// maxEvent bounds one server-sent event, so that a server that never ends a line
// cannot fill the memory.
const maxEvent = 16 << 20

var errEventTooLong = errors.New("server-sent event of more than 16 MiB")

// eventHandler takes the events that sse finds. data is valid during the call only.
type eventHandler interface {
	event(name, data []byte) error
}

// sse is an incremental parser of text/event-stream (WHATWG HTML, "Interpreting an
// event stream"): any split, lines ended by LF, CRLF or CR, comments, several data
// lines joined by LF, one space after the colon removed, an unfinished last event
// thrown away. An event that lies inside one feed is handed on without a copy. A
// byte order mark at the start is skipped.
type sse struct {
	line    []byte // part of a line that an earlier feed ended in
	data    []byte // data so far; points into the feed or is held
	held    []byte // memory for data that must outlive a feed
	name    []byte
	has     bool // a data field was seen
	foreign bool // data points into the current feed
	cr      bool // the last byte was CR: an LF that follows belongs to it
	begun   bool // the place of a byte order mark is behind us
}

func (s *sse) reset() {
	*s = sse{line: s.line[:0], held: s.held[:0], name: s.name[:0]}
}

// feed parses b and calls h for each complete event; it stops at h's first error.
func (s *sse) feed(b []byte, h eventHandler) error {
	for len(b) > 0 {
		if s.cr {
			s.cr = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		i := lineEnd(b)
		if i < 0 {
			s.line = append(s.line, b...)
			break
		}
		line := b[:i]
		s.cr = b[i] == '\r'
		b = b[i+1:]
		inside := len(s.line) == 0
		if !inside {
			s.line = append(s.line, line...)
			line = s.line
		}
		if err := s.take(line, inside, h); err != nil {
			return err
		}
		s.line = s.line[:0]
	}
	return s.keep()
}

// keep moves what points into the feed to our own memory.
func (s *sse) keep() error {
	if s.foreign {
		s.held = append(s.held[:0], s.data...)
		s.data, s.foreign = s.held, false
	}
	if len(s.line)+len(s.data) > maxEvent {
		return errEventTooLong
	}
	return nil
}

// take handles one line; inside tells that it is part of the feed, not of s.line.
func (s *sse) take(line []byte, inside bool, h eventHandler) error {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		return s.dispatch(h)
	}
	field, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		s.addData(value, inside)
	case "event":
		s.name = append(s.name[:0], value...)
	}
	return nil
}

func (s *sse) addData(value []byte, inside bool) {
	switch {
	case !s.has && inside:
		s.data, s.foreign = value, true
	case !s.has:
		s.held = append(s.held[:0], value...)
		s.data, s.foreign = s.held, false
	default:
		if s.foreign {
			s.held = append(s.held[:0], s.data...)
		}
		s.held = append(append(s.held, '\n'), value...)
		s.data, s.foreign = s.held, false
	}
	s.has = true
}

func (s *sse) dispatch(h eventHandler) error {
	name, data, has := s.name, s.data, s.has
	s.name, s.data, s.has, s.foreign = s.name[:0], nil, false, false
	if !has {
		return nil
	}
	return h.event(name, data)
}

// lineEnd is the index of the first LF or CR, -1 when there is none.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}
