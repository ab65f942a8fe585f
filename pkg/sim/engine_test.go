package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// handy is a model whose costs are easy to add up: a step of B sequences with C
// context tokens takes 10 ms + B·1 ms + C·1 µs, T prompt tokens add T·100 µs.
func handy() Preset {
	return Preset{
		StepBase: 10 * time.Millisecond, PerSeq: time.Millisecond, PerMctx: time.Second,
		PrefillBase: 10 * time.Millisecond, PerPrefillToken: 100 * time.Microsecond,
		KVTokens: 1000, MaxBatchedTokens: 200, MaxNumSeqs: 4, MaxModelLen: 1000,
	}
}

// player runs an engine in virtual time and notes what happens.
type player struct {
	e   *engine
	now time.Duration
	log []string
}

// play makes steps until the engine is idle; at most n.
func (p *player) play(t *testing.T, n int) (steps []time.Duration) {
	t.Helper()
	for range n {
		dur, wake, ok := p.e.plan(p.now)
		if !ok && wake == 0 {
			return steps
		}
		if !ok {
			p.now += wake
			continue
		}
		p.now += dur
		p.e.commit(p.now)
		for _, s := range p.e.done {
			p.log = append(p.log, s.owner.(string))
		}
		p.e.reap()
		steps = append(steps, dur)
		p.check(t)
	}
	return steps
}

// check holds the engine's books against a count from scratch.
func (p *player) check(t *testing.T) {
	t.Helper()
	used := 0
	for i, s := range p.e.running {
		if s.idx != i || s.state != seqRunning {
			t.Fatalf("running[%d] is %+v", i, s)
		}
		used += s.prompt + p.e.producedBy(s)
	}
	for _, s := range p.e.waiting {
		if s.state == seqPrefilling {
			used += s.kv
		}
	}
	if used != p.e.kvUsed {
		t.Fatalf("%d KV tokens on the books, %d in use", p.e.kvUsed, used)
	}
}

func (p *player) submit(name string, prompt, out int) *seq {
	s := &seq{prompt: prompt, max: out, owner: name}
	p.e.submit(p.now, s)
	return s
}

func TestEngineStepCosts(t *testing.T) {
	p := &player{e: newEngine(handy(), 1, false, 1)}
	p.submit("a", 100, 3)
	got := p.play(t, 10)
	want := []time.Duration{
		20 * time.Millisecond,                      // 10 base + 100 tokens
		11*time.Millisecond + 101*time.Microsecond, // 10 base + 1 sequence + 101 tokens of context
		11*time.Millisecond + 102*time.Microsecond,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEngineQueues(t *testing.T) {
	cases := []struct {
		name      string
		change    func(*Preset)
		give      [][2]int // prompt, output
		steps     int      // until all are done
		order     []string
		preempted bool
	}{
		{name: "prompts within the token budget share a step", give: [][2]int{{90, 2}, {90, 2}}, steps: 2, order: []string{"a", "b"}},
		{name: "a long prompt is cut into chunks", give: [][2]int{{450, 1}}, steps: 3, order: []string{"a"}},
		{name: "the second waits for budget", give: [][2]int{{150, 1}, {150, 1}}, steps: 2, order: []string{"a", "b"}},
		{name: "the fifth waits for a slot", give: [][2]int{{10, 2}, {10, 2}, {10, 2}, {10, 2}, {10, 2}}, steps: 4, order: []string{"a", "b", "c", "d", "e"}},
		{
			name: "a sequence waits for KV memory", change: func(p *Preset) { p.KVTokens = 150 },
			give: [][2]int{{100, 3}, {100, 3}}, steps: 6, order: []string{"a", "b"},
		},
		{
			name: "the youngest is preempted and comes back", change: func(p *Preset) { p.KVTokens = 220 },
			give: [][2]int{{100, 30}, {100, 30}}, steps: 50, order: []string{"a", "b"}, preempted: true,
		},
		{
			name: "one sequence may outgrow the memory", change: func(p *Preset) { p.KVTokens = 50 },
			give: [][2]int{{100, 3}}, steps: 3, order: []string{"a"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := handy()
			if c.change != nil {
				c.change(&m)
			}
			p := &player{e: newEngine(m, 1, false, 1)}
			for i, g := range c.give {
				p.submit(string(rune('a'+i)), g[0], g[1])
			}
			steps := p.play(t, 1000)
			if len(steps) != c.steps {
				t.Errorf("%d steps, want %d", len(steps), c.steps)
			}
			if diff := cmp.Diff(c.order, p.log); diff != "" {
				t.Errorf("finished (-want +got):\n%s", diff)
			}
			if (p.e.preemptions > 0) != c.preempted || p.e.kvUsed != 0 {
				t.Errorf("%d preemptions, %d KV tokens left", p.e.preemptions, p.e.kvUsed)
			}
		})
	}
}

func TestEngineCancelAnywhere(t *testing.T) {
	for steps := range 12 {
		p := &player{e: newEngine(handy(), 1, false, 1)}
		all := []*seq{p.submit("a", 100, 6), p.submit("b", 150, 6), p.submit("c", 50, 6)}
		p.play(t, steps)
		for _, s := range all {
			p.e.cancel(s)
			p.e.cancel(s) // twice does no harm
		}
		p.play(t, 10)
		if p.e.kvUsed != 0 || p.e.numRunning()+p.e.numWaiting() != 0 {
			t.Errorf("after %d steps: %d KV tokens, %d running, %d waiting left", steps, p.e.kvUsed, p.e.numRunning(), p.e.numWaiting())
		}
	}
}

func TestEngineRemotePrefillWaitsForTransfer(t *testing.T) {
	m := handy()
	m.PerAdmit = 5 * time.Millisecond
	p := &player{e: newEngine(m, 1, false, 1)}
	s := &seq{prompt: 100, max: 1, remote: true, ready: 40 * time.Millisecond, owner: "a"}
	p.e.submit(0, s)
	p.play(t, 10)
	// 40 transfer, then a step: 10 base, 1 sequence, 100 tokens of context, 5 admission.
	if want := 56*time.Millisecond + 100*time.Microsecond; s.first != want {
		t.Errorf("first token at %v, want %v", s.first, want)
	}
}

func TestPrefixCacheForgets(t *testing.T) {
	c := newPrefixCache(8)
	c.put([]uint64{1, 2, 3, 4}) // fills the young half: a generation passes
	if got := c.match([]uint64{1, 2, 9, 4}); got != 2 {
		t.Errorf("%d blocks matched, want 2", got)
	}
	c.put([]uint64{1, 2})
	c.put([]uint64{10, 11})
	if c.match([]uint64{3}) != 0 || c.match([]uint64{1, 2}) != 2 {
		t.Error("used blocks must stay, unused ones go")
	}
}

func TestTokenizeRule(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "hello": 1, "hello world": 2, "hello  world": 3, " hello": 1, "extraordinary": 2, "don't": 3,
		"a\n\nb": 3, "12345678": 1, "123456789": 2, "über straße": 2, "漢字": 1, "!?": 2, "  ": 1, "a ": 2, "\xff\xfe": 2,
	} {
		if got := CountTokens(text); got != want || len(Tokenize(text)) != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
	for _, w := range words {
		if CountTokens(w) != 1 {
			t.Errorf("%q of the vocabulary is not one token", w)
		}
	}
}

func FuzzTokenize(f *testing.F) {
	f.Add("Hello,  world\n\xff 漢")
	f.Fuzz(func(t *testing.T, text string) {
		if CountTokens(text) != len(Tokenize(text)) || (text != "" && CountTokens(text) < 1) {
			t.Errorf("%q", text)
		}
	})
}
