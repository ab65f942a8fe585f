package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// cacheInUse is how recently a part of the cache was used when it is not taken away: by this
// process or by another.
const cacheInUse = 10 * time.Minute

// pruneEach is how many bytes are written between two looks at the whole cache.
const pruneEach = 32 << 20

// limit keeps a cache's directory within its size.
type limit struct {
	dir, own string // own is the part that this source writes
	most     int64  // bytes; 0 means no bound

	mu      sync.Mutex
	due     int64 // bytes until the next look
	reached bool  // nothing is left that could go
}

// room tells whether size more bytes may be written, after the parts that were used least
// recently have gone where that is needed.
func (l *limit) room(size int64) (bool, error) {
	if l.most <= 0 {
		return true, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reached {
		return false, nil
	}
	if l.due -= size; l.due >= 0 {
		return true, nil
	}
	// A part more than needed goes, and the rest of the way to the bound is looked at more
	// often: a look reads the whole directory.
	left, err := prune(l.dir, l.own, l.most-l.most/8-size, time.Now())
	l.due = min(pruneEach, (l.most-left-size)/2)
	l.reached = left+size > l.most
	return !l.reached, err
}

// part is a set of prompts or an index.
type part struct {
	path string
	size int64
	used time.Time
}

// prune takes away the parts of a cache that were used least recently until no more than most
// bytes are left, and returns how many are. What was used within cacheInUse stays, and so
// does keep. A source whose part goes all the same cuts its prompts again.
func prune(dir, keep string, most int64, now time.Time) (left int64, err error) {
	parts, err := cacheParts(dir)
	if err != nil {
		return 0, fmt.Errorf("prompt cache: %w", err)
	}
	for _, p := range parts {
		left += p.size
	}
	slices.SortFunc(parts, func(a, b part) int { return a.used.Compare(b.used) })
	for _, p := range parts {
		if left <= most {
			break
		}
		if p.path == keep || now.Sub(p.used) < cacheInUse {
			continue
		}
		if err := os.RemoveAll(p.path); err != nil {
			return left, fmt.Errorf("prompt cache: %w", err)
		}
		left -= p.size
	}
	return left, nil
}

// cacheParts lists what a cache's directory has of ours, unfinished files of processes that
// were killed included. Another process may take parts away meanwhile.
func cacheParts(dir string) ([]part, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		if !slices.ContainsFunc([]string{"prompts-", "index-", ".index-"}, func(p string) bool { return strings.HasPrefix(e.Name(), p) }) {
			continue
		}
		p := part{path: filepath.Join(dir, e.Name())}
		err := filepath.WalkDir(p.path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			p.add(info)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// add counts a file; a directory tells only when it was used.
func (p *part) add(info fs.FileInfo) {
	if info.Mode().IsRegular() {
		p.size += info.Size()
	}
	if info.ModTime().After(p.used) {
		p.used = info.ModTime()
	}
}

// touch notes that a part of the cache was used now. That it cannot be, on a file system
// without times or without the right to it, matters only to the order in which parts go.
func touch(path string) {
	now := time.Now()
	os.Chtimes(path, now, now) //nolint:errcheck // see above
}
