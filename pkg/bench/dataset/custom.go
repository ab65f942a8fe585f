package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// rows is a source with a prompt a line, taken as it is; an index of lines is held, the
// text is not.
type rows struct {
	o       *opening
	lines   []span
	trusted bool // lengths were checked when the file was built
	more    int  // tokens that the server adds beyond those it was built for
	alike   int  // rows that begin like an earlier one
	info    Info
}

// span is a line's place in the file.
type span struct {
	off  int64
	size int32
}

// openCustom is the kind "custom": JSON lines with prompt and, optionally, output_tokens,
// or a file that Build made.
func openCustom(ctx context.Context, o *opening) (Source, error) {
	r := &rows{o: o}
	seen := map[uint64]bool{}
	sum, err := indexLines(ctx, o.Path, func(i int, s span, raw []byte) error {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("row %d at byte %d: %w", i+1, s.off, err)
		}
		p, err := l.toPrompt(i)
		if err != nil {
			return fmt.Errorf("at byte %d: %w", s.off, err)
		}
		r.lines = append(r.lines, s)
		k, err := firstBlock(ctx, o.Counter, p.Text)
		if seen[k] {
			r.alike++
		}
		seen[k] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(r.lines) == 0 {
		return nil, errors.New("the file has no prompts")
	}
	rule := o.Counter.Rule()
	n := int64(len(r.lines))
	r.info = Info{Kind: o.Kind, Path: o.Path, Hash: sum, LengthRule: "as in the file; counted: " + rule.Text, Exact: rule.Exact, Distinct: n}
	if err := r.readManifest(ctx, sum); err != nil {
		return nil, err
	}
	if r.alike > 0 && !r.info.SharesBeginnings {
		r.info.SharesBeginnings = true
		r.info.Warnings = append(r.info.Warnings, fmt.Sprintf("%d of %d rows begin like an earlier one, and a prefix cache answers for a part of them unless salt = true", r.alike, n))
	}
	r.info.Warnings = append(r.info.Warnings, repeatWarning(o, n)...)
	return r, nil
}

// readManifest takes over what Build wrote beside the file, when it is about this file.
func (r *rows) readManifest(ctx context.Context, sum string) error {
	m, err := ReadManifest(r.o.Path)
	if err != nil || m == nil {
		return err
	}
	if m.FileHash != sum {
		return fmt.Errorf("%s describes a file with hash %.12s, this one has %.12s; build it again", manifestPath(r.o.Path), m.FileHash, sum)
	}
	rule := r.o.Counter.Rule()
	if _, server := r.o.Counter.(identified); server {
		// What the server counts with has no hash to compare; its counts have.
		if err := r.spotCheck(ctx, m); err != nil {
			return err
		}
	} else if rule.Exact && m.CounterHash != rule.Hash {
		return fmt.Errorf("the file was built for another tokenizer (%s, hash %.12s) than this scenario's (%s, hash %.12s); build it again",
			m.Info.LengthRule, m.CounterHash, rule.Text, rule.Hash)
	}
	if m.Tokens > 0 && r.o.Tokens > 0 && m.Tokens != r.o.Tokens {
		return fmt.Errorf("the file was built with prompts of %d tokens, %d are wanted; build it again", m.Tokens, r.o.Tokens)
	}
	r.trusted = true
	r.info.LengthRule, r.info.Exact, r.info.SharesBeginnings = m.Info.LengthRule, m.Info.Exact, m.Info.SharesBeginnings
	r.info.Warnings = append(r.info.Warnings, m.Info.Warnings...)
	if r.more = r.o.SpecialTokens - m.SpecialTokens; r.more != 0 {
		r.info.Warnings = append(r.info.Warnings, fmt.Sprintf("the file was built for a server that adds %d tokens to a prompt, this one adds %d: prompts have %+d tokens", m.SpecialTokens, r.o.SpecialTokens, r.more))
	}
	return nil
}

// spotCheck counts the first, the middle and the last row anew.
func (r *rows) spotCheck(ctx context.Context, m *Manifest) error {
	for _, k := range []int{0, len(r.lines) / 2, len(r.lines) - 1} {
		p, err := r.row(k)
		if err != nil {
			return err
		}
		if p.TokenIDs != nil {
			continue
		}
		n, err := r.o.Counter.Count(ctx, p.Text)
		if err != nil {
			return err
		}
		if n += m.SpecialTokens; n != p.Tokens {
			return fmt.Errorf("row %d has %d tokens (%s), the server counts %d: it has another tokenizer than the file was built for; build it again",
				k+1, p.Tokens, m.Info.LengthRule, n)
		}
	}
	return nil
}

// row reads one row as it is.
func (r *rows) row(k int) (Prompt, error) {
	raw, err := readAt(r.o.Path, r.lines[k].off, int64(r.lines[k].size))
	if err != nil {
		return Prompt{}, err
	}
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return Prompt{}, fmt.Errorf("row %d: %w; the file has changed since it was opened", k+1, err)
	}
	return l.toPrompt(k)
}

// Prompt reads row i mod the number of rows.
func (r *rows) Prompt(ctx context.Context, i int64) (Prompt, error) {
	p, err := r.row(int(i % int64(len(r.lines))))
	if err != nil {
		return p, fmt.Errorf("dataset %s: %w", r.o.Path, err)
	}
	if p.OutputTokens == 0 {
		p.OutputTokens = r.o.OutputTokens
	}
	if r.trusted && !r.o.Salt {
		p.Tokens += r.more
		return p, nil
	}
	p.Text = r.o.salt(i) + p.Text
	n, err := r.o.Counter.Count(ctx, p.Text)
	p.Tokens = n + r.o.SpecialTokens
	return p, err
}

// Info describes the source.
func (r *rows) Info() Info { return r.info }

// indexLines calls visit for every line that is not blank and returns the file's hash.
func indexLines(ctx context.Context, path string, visit func(i int, s span, raw []byte) error) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	sc := bufio.NewScanner(io.TeeReader(ctxReader{ctx, f}, h))
	sc.Buffer(make([]byte, 64<<10), 64<<20)
	sc.Split(wholeLines)
	off, i := int64(0), 0
	for sc.Scan() {
		raw := sc.Bytes()
		if len(bytes.TrimSpace(raw)) > 0 {
			if err := visit(i, span{off, int32(len(raw))}, raw); err != nil { //nolint:gosec // lines are at most 64 MiB
				return "", err
			}
			i++
		}
		off += int64(len(raw))
	}
	if err := sc.Err(); err != nil {
		return "", fmt.Errorf("row %d at byte %d: %w", i+1, off, err)
	}
	return sumOf(h), nil
}

// wholeLines is bufio.ScanLines that keeps the line's end, so that offsets add up.
func wholeLines(data []byte, eof bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if eof && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
