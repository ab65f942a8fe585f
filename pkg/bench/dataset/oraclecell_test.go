package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// cell is a row of the results of TestOracleLengths.
type cell struct {
	Tokenizer string `json:"tokenizer"`
	Text      string `json:"text"`
	Tokens    int    `json:"tokens"`
	Prompts   int64  `json:"prompts"`
	Share     int64  `json:"share"` // the reference counts every Share-th prompt
	Cut       int    `json:"cut"`   // cutVersion

	Exact          int64 `json:"exact"`          // of Prompts, by our count of the finished text
	Recounted      int64 `json:"recounted"`      // by the reference
	RecountedExact int64 `json:"recountedExact"` // of these, by the reference
	Repeats        int64 `json:"repeats"`        // prompts whose whole text an earlier one has
	SameBeginning  int64 `json:"sameBeginning"`  // prompts that share the first block of an earlier one
	// Separate is how many prompts the text holds without overlap; -1 for made-up text.
	Separate int64 `json:"separate"`
	// Bytes is the text of all prompts, Digest the SHA-256 of them in order.
	Bytes   int64   `json:"bytes"`
	Digest  string  `json:"digest"`
	Seconds float64 `json:"seconds"` // wall, the reference's part included
	Example string  `json:"example,omitempty"`
}

// same tells whether two rows are of the same cell and settings. A larger share of
// prompts counted by the reference does for a smaller one.
func (c cell) same(o cell) bool {
	return c.Tokenizer == o.Tokenizer && c.Text == o.Text && c.Tokens == o.Tokens && c.Prompts == o.Prompts && c.Share <= o.Share && c.Cut == o.Cut
}

// finishedCell looks a cell up among the rows of earlier runs.
func finishedCell(t *testing.T, rows string, want cell) (cell, bool) {
	t.Helper()
	if rows == "" {
		return want, false
	}
	f, err := os.Open(rows)
	if os.IsNotExist(err) {
		return want, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var c cell
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", rows, err)
		}
		if c.same(want) {
			return c, true
		}
	}
	return want, false
}

func (c cell) keep(t *testing.T, rows string) {
	t.Helper()
	if rows == "" {
		return
	}
	line, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(rows, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// check fails when a prompt has another length than it says, by our count or by the
// reference's, or is not one of its own.
func (c cell) check(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d prompts have exactly %d tokens, %d of %d by the reference's count; %d repeats, %d begin like an earlier one; room for %d without overlap; %.0f MB, %.0f s",
		c.Exact, c.Prompts, c.Tokens, c.RecountedExact, c.Recounted, c.Repeats, c.SameBeginning, c.Separate, float64(c.Bytes)/1e6, c.Seconds)
	if c.Exact != c.Prompts || c.RecountedExact != c.Recounted || c.Repeats > 0 || c.SameBeginning > 0 {
		t.Errorf("not all are exact and different; for example %s", c.Example)
	}
}

// measure cuts all prompts once and counts each of them again.
func (c *cell) measure(t *testing.T, ref *reference, o Options) {
	t.Helper()
	start := time.Now()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c.Separate = -1; o.Kind == "text" {
		bodies, _, _, err := textBodies(t.Context(), o.Path)
		if err != nil {
			t.Fatal(err)
		}
		c.Separate = newStream(bodies, (o.Tokens-o.SpecialTokens)*bytesPerToken, o.Seed).separate()
	}
	digest, whole, begins := sha256.New(), map[[32]byte]bool{}, map[uint64]bool{}
	for first := int64(0); first < o.Prompts; first += 512 {
		ps, err := several(t.Context(), s, first, int(min(512, o.Prompts-first)))
		if err != nil {
			t.Fatal(err)
		}
		var sent []Prompt
		for i, p := range ps {
			digest.Write(append([]byte(p.Text), 0))
			c.add(t, p, o, whole, begins)
			if (first+int64(i))%c.Share == 0 {
				sent = append(sent, p)
			}
		}
		for i, n := range ref.count(sent) {
			if c.Recounted++; n == o.Tokens-o.SpecialTokens {
				c.RecountedExact++
			} else {
				c.Example = sent[i].Text[:min(200, len(sent[i].Text))]
			}
		}
	}
	c.Digest, c.Seconds = sumOf(digest), time.Since(start).Seconds()
}

func (c *cell) add(t *testing.T, p Prompt, o Options, whole map[[32]byte]bool, begins map[uint64]bool) {
	t.Helper()
	n, err := o.Counter.Count(t.Context(), p.Text)
	if err != nil {
		t.Fatal(err)
	}
	if n == o.Tokens-o.SpecialTokens && p.Tokens == o.Tokens {
		c.Exact++
	} else {
		c.Example = p.Text[:min(200, len(p.Text))]
	}
	b, err := firstBlock(t.Context(), o.Counter, p.Text)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(p.Text))
	if whole[sum] {
		c.Repeats++
	}
	if begins[b] {
		c.SameBeginning++
	}
	whole[sum], begins[b] = true, true
	c.Bytes += int64(len(p.Text))
}
