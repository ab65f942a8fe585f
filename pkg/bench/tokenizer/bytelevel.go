package tokenizer

// byteLevelRunes maps GPT-2's printable stand-ins back to bytes: printable Latin-1 stands
// for itself, the other bytes for U+0100 onwards in order.
func byteLevelRunes() map[rune]byte {
	m := make(map[rune]byte, 256)
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r = next
			next++
		}
		m[r] = byte(b)
	}
	return m
}

// rawBytes translates a vocabulary entry to the bytes it stands for.
func rawBytes(s string, table map[rune]byte) (string, bool) {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := table[r]
		if !ok {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}
