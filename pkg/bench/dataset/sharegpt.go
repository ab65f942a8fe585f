package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// talk is an entry of a ShareGPT file.
type talk struct {
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
}

// text joins the turns that are long enough to be prose. It tells whether all their
// characters are in it.
func (t talk) text() (text string, clean bool) {
	const least = 20
	var parts []string
	for _, c := range t.Conversations {
		if v := strings.TrimSpace(c.Value); len(v) >= least {
			parts = append(parts, v)
		}
	}
	return cleanText(strings.Join(parts, "\n\n"))
}

// entry is where an entry lies in the file, how much text it has, bytes, and what its first
// block is.
type entry struct {
	off        int64
	size, text int32
	begin      uint64
}

// talks is the corpus of a ShareGPT file: an index of entries, read when needed.
type talks struct {
	path    string
	entries []entry // in the seed's order
	groups  []int32 // first entry of each place
	twins   int
}

// openShareGPT is the kind "sharegpt": one JSON array of entries with conversations, or
// one entry a line. The file is read once and never held.
func openShareGPT(ctx context.Context, o *opening) (Source, error) {
	index, err := talkIndexOf(ctx, o)
	if err != nil {
		return nil, err
	}
	entries := index.entries
	rng := rand.New(rand.NewPCG(uint64(o.Seed), 0x5ba9e)) //nolint:gosec // a seeded choice, not a secret
	rng.Shuffle(len(entries), func(i, k int) { entries[i], entries[k] = entries[k], entries[i] })
	t := &talks{path: o.Path, entries: entries}
	t.group(o.budget() * bytesPerToken)
	warnings := index.warning("conversations")
	if t.twins > 0 {
		warnings = append(warnings, fmt.Sprintf("%d conversations begin like another one; no prompt begins with them", t.twins))
	}
	return newPieces(o, t, index.sum, warnings)
}

// group gives each place enough entries for one prompt; an entry serves one place. One that
// begins like an earlier place's first only follows others.
func (t *talks) group(need int) {
	seen := newBegins(len(t.entries))
	for i := 0; i < len(t.entries); {
		if !seen.add(t.entries[i].begin) {
			t.twins++
			i++
			continue
		}
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
		text, _ := one.text()
		out.WriteString(text)
	}
	return out.String(), nil
}
