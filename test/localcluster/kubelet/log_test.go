package kubelet

import (
	"bytes"
	"context"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// writeLog writes one line a second from 1970-01-01T00:00:10Z on.
func writeLog(t *testing.T, text string) (string, *containerLog) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c", "0.log")
	sec := int64(9)
	l, err := createLog(file, func() time.Time { sec++; return time.Unix(sec, 0) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	w := l.stream("stdout")
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file, l
}

func TestReadLog(t *testing.T) {
	file, _ := writeLog(t, "one\ntwo\nthree")
	for _, c := range []struct{ query, want string }{
		{"", "one\ntwo\nthree\n"},
		{"tailLines=1", "three\n"},
		{"tailLines=0", ""},
		{"limitBytes=5", "one\nt"},
		{"sinceTime=1970-01-01T00:00:11Z", "two\nthree\n"},
		{"sinceSeconds=1", "two\nthree\n"},
		{"timestamps=true&tailLines=1", "1970-01-01T00:00:12Z three\n"},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		o, err := parseLogOptions(q, time.Unix(12, 0))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := copyLog(t.Context(), &b, func() {}, file, o, nil); err != nil || b.String() != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.query, b.String(), err, c.want)
		}
	}
	if _, err := parseLogOptions(url.Values{"tailLines": {"-1"}}, time.Now()); err == nil {
		t.Error("tailLines=-1 was accepted")
	}
}

func TestFollowedLogEndsWithTheRun(t *testing.T) {
	file, l := writeLog(t, "one\n")
	var over atomic.Bool
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var b bytes.Buffer
	flushes := 0
	flush := func() {
		if flushes++; flushes == 2 {
			l.line("stdout", []byte("two"))
			over.Store(true)
		}
	}
	if err := copyLog(ctx, &b, flush, file, logOptions{follow: true, tail: -1, limit: -1}, over.Load); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v", err, ctx.Err())
	}
	if b.String() != "one\ntwo\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestLogRun(t *testing.T) {
	term := &corev1.ContainerStateTerminated{}
	for _, c := range []struct {
		about    string
		st       containerState
		previous bool
		run      int32
		fails    bool
	}{
		{"running", containerState{running: &corev1.ContainerStateRunning{}}, false, 0, false},
		{"previous of the first run", containerState{running: &corev1.ContainerStateRunning{}}, true, 0, true},
		{"previous of the third run", containerState{running: &corev1.ContainerStateRunning{}, last: term, restarts: 2}, true, 1, false},
		{"in back-off", containerState{waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, last: term, restarts: 2}, false, 2, false},
		{"previous in back-off", containerState{waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}, last: term, restarts: 2}, true, 2, false},
		{"image not pulled", containerState{waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}, false, 0, true},
	} {
		w := &worker{name: "p", state: podState{main: map[string]containerState{"c": c.st}}}
		run, err := w.logRun("c", c.previous)
		if run != c.run || (err != nil) != c.fails {
			t.Errorf("%s: got run %d, %v", c.about, run, err)
		}
	}
}
