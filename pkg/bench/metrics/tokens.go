package metrics

import "github.com/mifbench/mifbench/pkg/bench/record"

// tokens tells how many output tokens each event of a record stands for.
type tokens struct {
	per    []int32 // per event, when spread
	spread bool
	total  int64
	multi  bool // some chunk holds several tokens
}

// count fills t for r. A chunk counts as the client saw it; when the client knew no
// better than one token a chunk and the server's usage says otherwise, usage is
// spread evenly over the chunks (vllm-project/vllm#35471): event i of c gets
// ⌊(i+1)·n/c⌋ - ⌊i·n/c⌋ of n tokens. A single token of difference belongs to the end of
// the stream (an end token without text), not to a longer chunk.
func (t *tokens) count(r *record.Record) {
	*t = tokens{per: t.per[:0]}
	c := int64(len(r.Events))
	for i := range r.Events {
		n := int64(r.Events[i].Tokens)
		t.total += n
		t.multi = t.multi || n > 1
	}
	n := int64(r.UsageCompletion)
	if n < 0 || c == 0 || t.total == n || t.total != c {
		return
	}
	t.spread, t.total, t.multi = true, n, n > c+1
	for i := range c {
		k := int32(1)
		if n != c+1 {
			k = int32((i+1)*n/c - i*n/c)
		} else if i == c-1 {
			k = 2
		}
		t.per = append(t.per, k)
	}
}

// of is the number of tokens of event i of r.
func (t *tokens) of(r *record.Record, i int) int64 {
	if t.spread {
		return int64(t.per[i])
	}
	return int64(r.Events[i].Tokens)
}

// lastEvent is the instant of r's last token event, 0 if it has none. vLLM's latency ends
// here: neither the usage chunk nor [DONE] is part of it.
func lastEvent(r *record.Record) int64 {
	if len(r.Events) == 0 {
		return 0
	}
	return r.Events[len(r.Events)-1].At
}

// left is the instant at which r left the system: its last token, or its end when it failed.
func left(r *record.Record) int64 {
	if e := lastEvent(r); e != 0 && r.Status == record.OK {
		return e
	}
	return max(r.Done, lastEvent(r))
}

// sent tells whether r ever went out.
func sent(r *record.Record) bool { return r.Status != record.Dropped }

// promptTokens is the server's count when it gave one (newest vLLM), else the dataset's.
func promptTokens(r *record.Record) int64 {
	if r.UsagePrompt >= 0 {
		return int64(r.UsagePrompt)
	}
	return int64(r.PromptTokens)
}
