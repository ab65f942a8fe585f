package tokenizer

import "unicode"

// class is the set of properties of a character that pre-tokenizers ask for.
type class uint8

const (
	letter class = 1 << iota // \p{L}
	mark                     // \p{M}
	number                   // \p{N}
	symbol                   // \p{P} or \p{S}
	space                    // \s
	upper                    // \p{Lu}, \p{Lt}, \p{Lm}, \p{Lo} or \p{M}
	lower                    // \p{Ll}, \p{Lm}, \p{Lo} or \p{M}
	line                     // \r or \n
)

// classes has a class for every code point.
type classes []class

// newClasses fills the table from Go's own Unicode tables, which regexp2 uses, too.
func newClasses() classes {
	all := make(classes, unicode.MaxRune+1)
	for _, row := range []struct {
		class  class
		tables []*unicode.RangeTable
	}{
		{letter, []*unicode.RangeTable{unicode.L}},
		{mark, []*unicode.RangeTable{unicode.M}},
		{number, []*unicode.RangeTable{unicode.N}},
		{symbol, []*unicode.RangeTable{unicode.P, unicode.S}},
		{space, []*unicode.RangeTable{unicode.White_Space}},
		{upper, []*unicode.RangeTable{unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M}},
		{lower, []*unicode.RangeTable{unicode.Ll, unicode.Lm, unicode.Lo, unicode.M}},
	} {
		for _, t := range row.tables {
			all.add(row.class, t)
		}
	}
	all['\r'] |= line
	all['\n'] |= line
	return all
}

func (c classes) add(k class, t *unicode.RangeTable) {
	for _, r := range t.R16 {
		for i := int(r.Lo); i <= int(r.Hi); i += int(r.Stride) {
			c[i] |= k
		}
	}
	for _, r := range t.R32 {
		for i := int(r.Lo); i <= int(r.Hi); i += int(r.Stride) {
			c[i] |= k
		}
	}
}
