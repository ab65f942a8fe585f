package dataset

import (
	"context"
	"fmt"
	"math/bits"
)

// Report is what Inspect and Verify find out about prompts.
type Report struct {
	Info Info `json:"info"`
	// Checked is how many prompts were looked at.
	Checked int64 `json:"checked"`
	// MinTokens and MaxTokens bound the counted lengths; MeanTokens is their mean.
	MinTokens  int     `json:"minTokens"`
	MaxTokens  int     `json:"maxTokens"`
	MeanTokens float64 `json:"meanTokens"`
	// MeanBytes is the mean size of a prompt's text.
	MeanBytes float64 `json:"meanBytes"`
	// Histogram counts prompts by length in powers of two: [k] has 2^k <= tokens < 2^(k+1).
	Histogram []int64 `json:"histogram"`
	// Wrong is how many prompts do not have the length they say; WrongExamples name some.
	Wrong         int64    `json:"wrong"`
	WrongExamples []string `json:"wrongExamples,omitempty"`
	// SameBeginning is how many prompts begin like an earlier one.
	SameBeginning int64 `json:"sameBeginning"`
	// Samples are the beginnings of the first prompts.
	Samples []string `json:"samples,omitempty"`

	uncounted bool // lengths are those that the source says
}

// Inspect looks at up to n prompts and says what the source is like.
func Inspect(ctx context.Context, o Options, n int64) (Report, error) {
	return look(ctx, o, n, 3)
}

// Verify counts every one of o.Prompts prompts again, or all that the source has when that is
// 0, and returns an error when one does not have its length. Prompts that begin alike are
// counted in the report and are no error.
func Verify(ctx context.Context, o Options) (Report, error) {
	r, err := look(ctx, o, o.Prompts, 0)
	if err == nil && r.uncounted {
		return r, fmt.Errorf("dataset %s: lengths are said to be %s, and counting them again needs that tokenizer", o.Path, r.Info.LengthRule)
	}
	if err == nil && r.Wrong > 0 && r.Info.Exact {
		err = fmt.Errorf("dataset %s: %d of %d prompts do not have their length, for example %s", o.Path, r.Wrong, r.Checked, r.WrongExamples[0])
	}
	return r, err
}

func look(ctx context.Context, o Options, n int64, samples int) (Report, error) {
	counter, err := counterOf(o)
	if err != nil {
		return Report{}, err
	}
	o.Counter = counter
	s, err := Open(ctx, o)
	if err != nil {
		return Report{}, err
	}
	r := Report{Info: s.Info(), Histogram: make([]int64, 32)}
	// A file that was built has exact lengths, which an estimate does not check.
	r.uncounted = r.Info.Exact && !counter.Rule().Exact
	if n == 0 {
		n = r.Info.Distinct
	}
	if n <= 0 {
		n = unknownLook
	}
	seen := map[uint64]bool{}
	for first := int64(0); first < n; first += chunkSize {
		prompts, err := several(ctx, s, first, int(min(chunkSize, n-first)))
		if err != nil {
			return r, err
		}
		counts, err := countAll(ctx, counter, o.SpecialTokens, prompts)
		if err != nil {
			return r, err
		}
		if r.uncounted {
			counts = said(prompts)
		}
		for k, p := range prompts {
			r.add(p, counts[k], samples)
			b, err := firstBlock(ctx, counter, p.Text)
			if err != nil {
				return r, err
			}
			if seen[b] {
				r.SameBeginning++
			}
			seen[b] = true
		}
	}
	return r, nil
}

// unknownLook is how many prompts of a source without end are looked at.
const unknownLook = 1000

func said(prompts []Prompt) []int {
	var counts []int
	for _, p := range prompts {
		counts = append(counts, p.Tokens)
	}
	return counts
}

func countAll(ctx context.Context, c Counter, special int, prompts []Prompt) ([]int, error) {
	counts := make([]int, len(prompts))
	for i, p := range prompts {
		if p.TokenIDs != nil {
			counts[i] = len(p.TokenIDs)
			continue
		}
		n, err := c.Count(ctx, p.Text)
		if err != nil {
			return nil, err
		}
		counts[i] = n + special
	}
	return counts, nil
}

func (r *Report) add(p Prompt, n, samples int) {
	if n != p.Tokens {
		if r.Wrong++; len(r.WrongExamples) < 5 {
			r.WrongExamples = append(r.WrongExamples, fmt.Sprintf("prompt %d: %d tokens, %d wanted", r.Checked, n, p.Tokens))
		}
	}
	if r.Checked == 0 || n < r.MinTokens {
		r.MinTokens = n
	}
	r.MaxTokens = max(r.MaxTokens, n)
	r.Checked++
	r.MeanTokens += (float64(n) - r.MeanTokens) / float64(r.Checked)
	r.MeanBytes += (float64(len(p.Text)) - r.MeanBytes) / float64(r.Checked)
	r.Histogram[max(0, bits.Len(uint(max(0, n)))-1)]++ //nolint:gosec // not negative
	if len(r.Samples) < samples {
		r.Samples = append(r.Samples, fmt.Sprintf("%.120s", p.Text))
	}
}
