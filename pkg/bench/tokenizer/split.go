package tokenizer

import "strings"

// finder walks a text and calls visit for every part in order, matched or not. It stops
// when visit returns false.
type finder interface {
	each(text string, visit func(from, to int, matched bool) bool)
}

// split is one step of the pre-tokenizer. Each step works inside the pieces of the one
// before, and its look-ahead sees the piece only.
type split struct {
	find   finder
	rule   behaviour
	invert bool
}

type behaviour int

const (
	isolated behaviour = iota
	removed
	mergedWithPrevious
)

// behaviours is the table of what a Split may do with its matches.
func behaviours() map[string]behaviour {
	return map[string]behaviour{"Isolated": isolated, "Removed": removed, "MergedWithPrevious": mergedWithPrevious}
}

// splitFrom runs step k and those after it on text, and the model on what is left whole.
func (t *Tokenizer) splitFrom(s *scratch, text string, k int) bool {
	if k == len(t.splits) {
		return t.piece(s, text)
	}
	step := &t.splits[k]
	goOn := true
	switch step.rule {
	case isolated:
		step.find.each(text, func(from, to int, _ bool) bool {
			goOn = t.splitFrom(s, text[from:to], k+1)
			return goOn
		})
	case removed:
		step.find.each(text, func(from, to int, matched bool) bool {
			if matched == step.invert {
				goOn = t.splitFrom(s, text[from:to], k+1)
			} else {
				s.end += to - from
			}
			return goOn
		})
	case mergedWithPrevious:
		goOn = t.mergePrevious(s, step, text, k)
	}
	return goOn
}

func (t *Tokenizer) mergePrevious(s *scratch, step *split, text string, k int) bool {
	start, end, goOn := 0, 0, true
	step.find.each(text, func(from, to int, matched bool) bool {
		if end = to; matched != step.invert {
			goOn = t.splitFrom(s, text[start:to], k+1)
			start = to
		}
		return goOn
	})
	if goOn && start < end {
		goOn = t.splitFrom(s, text[start:end], k+1)
	}
	return goOn
}

// piece gives one piece to the model; false when the limit is reached.
func (t *Tokenizer) piece(s *scratch, text string) bool {
	if t.model.chars {
		return t.model.joints.each(text, func(part string) bool { return t.part(s, part) })
	}
	return t.part(s, text)
}

// part is a piece, or what of it merges with nothing else of it.
func (t *Tokenizer) part(s *scratch, text string) bool {
	t.model.encode(s, text)
	if s.limit == 0 {
		return true
	}
	if len(s.out) > s.limit {
		return false
	}
	s.end += len(text)
	return len(s.out) < s.limit
}

// literal finds a string.
type literal string

func (l literal) each(text string, visit func(from, to int, matched bool) bool) {
	at := 0
	for at < len(text) {
		i := strings.Index(text[at:], string(l))
		if i < 0 {
			break
		}
		if i > 0 && !visit(at, at+i, false) {
			return
		}
		if !visit(at+i, at+i+len(l), true) {
			return
		}
		at += i + len(l)
	}
	if at < len(text) {
		visit(at, len(text), false)
	}
}
