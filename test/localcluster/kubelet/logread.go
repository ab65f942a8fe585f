package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"
)

// logPoll is how often a followed log is looked at.
const logPoll = 100 * time.Millisecond

// logOptions are the query parameters of the log endpoint.
type logOptions struct {
	follow, previous, timestamps bool
	tail, limit                  int64 // -1: all
	since                        time.Time
}

func parseLogOptions(q url.Values, now time.Time) (logOptions, error) {
	o := logOptions{tail: -1, limit: -1}
	var errs []error
	flag := func(key string) bool {
		v, err := strconv.ParseBool(q.Get(key))
		return err == nil && v
	}
	number := func(key string) (int64, bool) {
		if !q.Has(key) {
			return -1, false
		}
		n, err := strconv.ParseInt(q.Get(key), 10, 64)
		if err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("%s must be a number not below 0: %q", key, q.Get(key)))
		}
		return n, true
	}
	o.follow, o.previous, o.timestamps = flag("follow"), flag("previous"), flag("timestamps")
	o.tail, _ = number("tailLines")
	o.limit, _ = number("limitBytes")
	if s, ok := number("sinceSeconds"); ok {
		o.since = now.Add(-time.Duration(s) * time.Second)
	}
	if v := q.Get("sinceTime"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			errs = append(errs, fmt.Errorf("sinceTime: %w", err))
		}
		o.since = t
	}
	return o, errors.Join(errs...)
}

// copyLog writes a log file to w. With follow it goes on until ended says that the run is over, or ctx ends.
func copyLog(ctx context.Context, w io.Writer, flush func(), file string, o logOptions, ended func() bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	c := &logCopier{w: w, o: o}
	rest, err := c.first(f)
	for err == nil && o.follow && c.o.limit != 0 {
		over := ended()
		var n int64
		if n, rest, err = c.more(f, rest); err != nil || over && n == 0 {
			break
		}
		flush()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPoll):
		}
	}
	return err
}

type logCopier struct {
	w io.Writer
	o logOptions
}

// first writes what is there, from the last lines that are asked for, and returns an unfinished line.
func (c *logCopier) first(f io.Reader) ([]byte, error) {
	all, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(all, []byte("\n"))
	rest := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	if c.o.tail >= 0 && int64(len(lines)) > c.o.tail {
		lines = lines[int64(len(lines))-c.o.tail:]
	}
	return rest, c.write(lines)
}

// more writes the lines that came since and returns how many bytes it read.
func (c *logCopier) more(f io.Reader, rest []byte) (int64, []byte, error) {
	add, err := io.ReadAll(f)
	if err != nil {
		return 0, nil, err
	}
	lines := bytes.SplitAfter(append(rest, add...), []byte("\n"))
	return int64(len(add)), lines[len(lines)-1], c.write(lines[:len(lines)-1])
}

func (c *logCopier) write(lines [][]byte) error {
	for _, l := range lines {
		stamp, after, _ := bytes.Cut(l, []byte(" "))
		_, text, _ := bytes.Cut(after, []byte(" "))
		if !c.o.since.IsZero() {
			if t, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil && t.Before(c.o.since) {
				continue
			}
		}
		if c.o.timestamps {
			text = append(append(append([]byte{}, stamp...), ' '), text...)
		}
		if c.o.limit >= 0 && int64(len(text)) > c.o.limit {
			text = text[:c.o.limit]
		}
		if _, err := c.w.Write(text); err != nil {
			return err
		}
		if c.o.limit >= 0 {
			if c.o.limit -= int64(len(text)); c.o.limit == 0 {
				return nil
			}
		}
	}
	return nil
}
