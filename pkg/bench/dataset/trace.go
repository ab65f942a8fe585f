package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

func traceOptions() []OptionDoc {
	return []OptionDoc{
		{"block_tokens", "Tokens that one of Mooncake's hash_ids stands for.", 512},
		{"speed", "How many times faster than recorded the trace is replayed.", 1.0},
		{"max_tokens", "Requests with longer prompts are left out; 0 means none are.", 0},
		{"timestamp_key", "Key of the send time in JSON lines, ms.", "timestamp"},
		{"input_key", "Key of the prompt's length in JSON lines.", "input_length"},
		{"output_key", "Key of the answer's length in JSON lines.", "output_length"},
		{"blocks_key", "Key of the prompt's blocks in JSON lines.", "hash_ids"},
		textOption(),
	}
}

// call is a request of a trace.
type call struct {
	offset        int64 // ns
	input, output int32
	blocks        []int64
}

// openTrace is the kind "trace": Mooncake's JSON lines (timestamp in ms, input_length,
// output_length, hash_ids) or Azure's CSV (TIMESTAMP, ContextTokens, GeneratedTokens).
// Prompts with the same hash_ids begin with the same blocks.
func openTrace(ctx context.Context, o *opening) (Source, error) {
	begin, err := peek(o.Path)
	if err != nil {
		return nil, err
	}
	var calls []call
	var sum string
	if bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")) {
		calls, sum, err = mooncakeCalls(ctx, o.Path, o.values)
	} else {
		calls, sum, err = azureCalls(ctx, o.Path)
	}
	if err != nil {
		return nil, err
	}
	return openCalls(ctx, o, calls, sum, o.values.float("speed"), o.values.int("max_tokens"))
}

// openCalls makes prompts for a trace's requests; after the last one the trace repeats.
func openCalls(ctx context.Context, o *opening, calls []call, sum string, speed float64, limit int) (Source, error) {
	if speed <= 0 {
		return nil, fmt.Errorf("speed %v is not above 0", speed)
	}
	kept := calls[:0]
	for _, c := range calls {
		if limit == 0 || int(c.input) <= limit {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("no request is left of the trace")
	}
	filler, _, err := filler(ctx, o, int(longest(kept)))
	if err != nil {
		return nil, err
	}
	b := &blocks{o: o, corpus: filler, made: map[int64]string{}}
	n := int64(len(kept))
	// The trace begins again one mean gap after its last request.
	span := kept[n-1].offset + max(1, kept[n-1].offset/max(1, n-1))
	p := newPlanned(o, filler, sum, n, func(ctx context.Context, i int64) (recipe, error) {
		c := kept[i%n]
		head, err := b.head(ctx, c)
		r := recipe{place: i % n, head: head, tokens: max(int(c.input), o.SpecialTokens+1), output: int(c.output), offset: -1}
		if c.offset >= 0 {
			r.offset = int64(float64(c.offset+i/n*span) / speed)
		}
		return r, err
	})
	p.info.SharesBeginnings = shareBlocks(kept)
	if left := len(calls) - len(kept); left > 0 {
		p.info.Warnings = append(p.info.Warnings, fmt.Sprintf("%d requests with prompts above %d tokens are left out", left, limit))
	}
	p.info.Warnings = append(p.info.Warnings, repeatWarning(o, n)...)
	return p, nil
}

// shareBlocks tells whether requests of the trace have hashes of blocks, which say what they
// share.
func shareBlocks(calls []call) bool {
	for _, c := range calls {
		if len(c.blocks) > 1 {
			return true
		}
	}
	return false
}

func longest(calls []call) (n int32) {
	for _, c := range calls {
		n = max(n, c.input)
	}
	return n
}

// blocks makes the text of hash ids, a bounded number of which are remembered.
type blocks struct {
	o      *opening
	corpus corpus

	mu   sync.Mutex
	made map[int64]string
}

const maxBlocks = 1 << 14

// head is the text of all blocks but the last, which belongs to the request itself.
func (b *blocks) head(ctx context.Context, c call) (string, error) {
	if len(c.blocks) < 2 {
		return "", nil
	}
	size := b.o.values.int("block_tokens")
	var out strings.Builder
	for k, id := range c.blocks[:len(c.blocks)-1] {
		if (k+1)*size+b.o.SpecialTokens >= int(c.input) {
			break
		}
		text, err := b.block(ctx, id, size)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// block is a little under size tokens, so that joining never makes a prompt too long.
func (b *blocks) block(ctx context.Context, id int64, size int) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.made[id]; ok {
		return s, nil
	}
	s, err := cutFrom(ctx, b.o, syllables{b.o.Seed ^ 0x0b10c}, id, "", max(1, size-2))
	if err == nil {
		s += " "
		if len(b.made) >= maxBlocks {
			clear(b.made)
		}
		b.made[id] = s
	}
	return s, err
}

func peek(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	b := make([]byte, 512)
	n, err := f.Read(b)
	if n == 0 {
		return nil, errors.Join(errors.New("the file is empty"), err)
	}
	return b[:n], nil
}

// mooncakeCalls reads JSON lines whose keys the options name.
func mooncakeCalls(ctx context.Context, path string, keys values) (calls []call, sum string, err error) {
	input, output := keys.string("input_key"), keys.string("output_key")
	sum, err = indexLines(ctx, path, func(i int, s span, raw []byte) error {
		fail := func(err error) error { return fmt.Errorf("row %d at byte %d: %w", i+1, s.off, err) }
		var row map[string]json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return fail(err)
		}
		var at *float64
		var in, out *int32
		c := call{offset: -1}
		for key, to := range map[string]any{keys.string("timestamp_key"): &at, input: &in, output: &out, keys.string("blocks_key"): &c.blocks} {
			if v, ok := row[key]; ok {
				if err := json.Unmarshal(v, to); err != nil {
					return fail(fmt.Errorf("%s: %w", key, err))
				}
			}
		}
		if in == nil || out == nil || *in < 1 || *out < 0 {
			return fail(fmt.Errorf("%s and %s are needed", input, output))
		}
		if c.input, c.output = *in, *out; at != nil {
			c.offset = int64(*at * 1e6)
		}
		calls = append(calls, c)
		return nil
	})
	return calls, sum, err
}
