package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

// talk is an entry of a ShareGPT file.
type talk struct {
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

// text joins the turns that are long enough to be prose.
func (t talk) text() string {
	const least = 20
	var parts []string
	for _, c := range t.Conversations {
		if v := strings.TrimSpace(c.Value); len(v) >= least {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, "\n\n")
}

// entry is where an entry lies in the file and how much text it has, bytes.
type entry struct {
	off        int64
	size, text int32
}

// talks is the corpus of a ShareGPT file: an index of entries, read when needed.
type talks struct {
	path    string
	entries []entry // in the seed's order
	groups  []int32 // first entry of each place
}

// openShareGPT is the kind "sharegpt": one JSON array of entries with conversations, or
// one entry a line. The file is read once and never held.
func openShareGPT(ctx context.Context, o *opening) (Source, error) {
	entries, sum, twins, err := indexTalks(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(o.Seed), 0x5ba9e)) //nolint:gosec // a seeded choice, not a secret
	rng.Shuffle(len(entries), func(i, k int) { entries[i], entries[k] = entries[k], entries[i] })
	t := &talks{path: o.Path, entries: entries}
	t.group(o.budget() * bytesPerToken)
	var warnings []string
	if twins > 0 {
		warnings = append(warnings, fmt.Sprintf("%d conversations that begin like an earlier one are left out", twins))
	}
	return newPieces(o, t, sum, warnings)
}

// group gives each place enough entries for one prompt; an entry serves one place.
func (t *talks) group(need int) {
	for i := 0; i < len(t.entries); {
		t.groups = append(t.groups, int32(i)) //nolint:gosec // far fewer entries than 1<<31
		for have := 0; i < len(t.entries) && have < need; i++ {
			have += int(t.entries[i].text)
		}
		if i == len(t.entries) && len(t.groups) > 1 {
			t.groups = t.groups[:len(t.groups)-1] // the last may be short; its text ends others
		}
	}
}

// Places is the number of groups.
func (t *talks) Places() int64 { return int64(len(t.groups)) }

// Text reads entries from the place's first on.
func (t *talks) Text(ctx context.Context, i int64, want int) (string, error) {
	var out strings.Builder
	for k := int(t.groups[i]); k < len(t.entries) && out.Len() < want; k++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		e := t.entries[k]
		raw, err := readAt(t.path, e.off, int64(e.size))
		if err != nil {
			return "", err
		}
		var one talk
		if err := json.Unmarshal(bytes.TrimLeft(raw, ", \t\r\n"), &one); err != nil {
			return "", fmt.Errorf("%s at byte %d: %w; the file has changed since it was opened", t.path, e.off, err)
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(one.text())
	}
	return out.String(), nil
}

// indexTalks reads the whole file once: offsets, hash, and how many entries were left out
// because they begin like an earlier one.
func indexTalks(ctx context.Context, path string) (entries []entry, sum string, twins int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", 0, err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	dec, err := talkDecoder(bufio.NewReaderSize(io.TeeReader(ctxReader{ctx, f}, h), 1<<20))
	if err != nil {
		return nil, "", 0, err
	}
	seen := map[uint64]bool{}
	for k := 0; dec.More(); k++ {
		from := dec.InputOffset()
		var one talk
		if err := dec.Decode(&one); err != nil {
			return nil, "", 0, where(err, k, from)
		}
		if one.Conversations == nil {
			return nil, "", 0, fmt.Errorf("entry %d at byte %d has no conversations; want {\"conversations\": [{\"from\": …, \"value\": …}, …]}", k, from)
		}
		text := one.text()
		if len(one.Conversations) < 2 || text == "" {
			continue
		}
		if begin := beginning(text); seen[begin] {
			twins++
		} else {
			seen[begin] = true
			entries = append(entries, entry{from, int32(dec.InputOffset() - from), int32(min(len(text), 1<<30))}) //nolint:gosec // entries are far below 2 GiB
		}
	}
	if err := dec.end(); err != nil {
		return nil, "", 0, where(err, len(entries), dec.InputOffset())
	}
	if _, err := io.Copy(h, ctxReader{ctx, f}); err != nil {
		return nil, "", 0, err
	}
	return entries, sumOf(h), twins, nil
}

func where(err error, k int, at int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends in the middle of entry %d, which begins at byte %d; it is truncated", k, at)
	}
	return fmt.Errorf("entry %d at byte %d: %w", k, at, err)
}

// beginning identifies the first characters of a text: less than a cache block of 16
// tokens, so that texts that differ in it share no block.
func beginning(text string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, text[:min(len(text), 32)]) //nolint:errcheck // a hash does not fail
	return h.Sum64()
}
