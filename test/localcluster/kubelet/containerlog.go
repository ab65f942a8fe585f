package kubelet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// containerLog is the log file of one run of a container. A line is stored as "time stream text", as container runtimes
// do, so that time filters can be served.
type containerLog struct {
	mu   sync.Mutex
	file *os.File
	now  func() time.Time
}

func createLog(file string, now func() time.Time) (*containerLog, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &containerLog{file: f, now: now}, nil
}

func (l *containerLog) line(stream string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// A full disk must not stop the container; the reader sees a shorter log.
	_, _ = fmt.Fprintf(l.file, "%s %s %s\n", l.now().UTC().Format(time.RFC3339Nano), stream, text)
}

func (l *containerLog) close() error { return l.file.Close() }

// stream returns a writer that splits one output stream into lines. Close writes an unfinished line.
func (l *containerLog) stream(name string) io.WriteCloser { return &logStream{log: l, name: name} }

type logStream struct {
	log  *containerLog
	name string
	rest []byte
}

func (s *logStream) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		s.log.line(s.name, s.rest[:i])
		s.rest = s.rest[i+1:]
	}
}

func (s *logStream) Close() error {
	if len(s.rest) > 0 {
		s.log.line(s.name, s.rest)
		s.rest = nil
	}
	return nil
}
