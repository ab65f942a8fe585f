package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// digits is \p{N}{1,most}.
func digits(c classes, s string, i, most int) int {
	end := i
	for range most {
		k, w := c.at(s, end)
		if k&number == 0 {
			break
		}
		end += w
	}
	if end == i {
		return -1
	}
	return end
}

// scanHanKana is [一-龥぀-ゟ゠-ヿ]+.
func scanHanKana(_ classes, s string, i int) int {
	end := i
	for end < len(s) && s[end] >= utf8.RuneSelf {
		r, w := utf8.DecodeRuneInString(s[end:])
		if !(r >= '一' && r <= '龥' || r >= '\u3040' && r <= '\u30ff') {
			break
		}
		end += w
	}
	if end == i {
		return -1
	}
	return end
}

// white is \s*[\r\n]+|\s+(?!\S)|\s+: up to the last line end of the white space, else all of
// it but the last character when a word follows, else all of it.
func white(c classes, s string, i int) int {
	last, line1, end := i, -1, i
	for {
		k, w := c.at(s, end)
		if k&space == 0 {
			break
		}
		last, end = end, end+w
		if k&line != 0 {
			line1 = end
		}
	}
	switch {
	case end == i:
		return -1
	case line1 > 0:
		return line1
	case end == len(s) || last == i:
		return end
	}
	return last
}

// whiteGPT2 is \s+(?!\S)|\s+.
func whiteGPT2(c classes, s string, i int) int {
	last, end := i, i
	for {
		k, w := c.at(s, end)
		if k&space == 0 {
			break
		}
		last, end = end, end+w
	}
	switch {
	case end == i:
		return -1
	case end == len(s) || last == i:
		return end
	}
	return last
}

// ending is 's|'t|'re|'ve|'m|'ll|'d at byte i; fold: in any case, with ſ, which folds to s.
func ending(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return -1
	}
	rest := s[i+1:]
	for _, e := range [...]string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if strings.HasPrefix(rest, e) || fold && len(rest) >= len(e) && strings.EqualFold(rest[:len(e)], e) {
			return i + 1 + len(e)
		}
	}
	if fold && strings.HasPrefix(rest, "ſ") {
		return i + 1 + len("ſ")
	}
	return -1
}

// scanGPT2 is ByteLevel's own expression.
func scanGPT2(c classes, s string, i int) int {
	if end := ending(s, i, false); end > 0 {
		return end
	}
	at := i
	if s[i] == ' ' {
		at++
	}
	if end := c.run(s, at, letter); end > at {
		return end
	}
	if end := c.run(s, at, number); end > at {
		return end
	}
	if end := c.runNot(s, at, space|letter|number); end > at {
		return end
	}
	return whiteGPT2(c, s, i)
}

// scanCL100K is Llama 3's and, with single digits, Qwen's expression.
func scanCL100K(c classes, s string, i, digit int) int {
	if end := ending(s, i, true); end > 0 {
		return end
	}
	k, w := c.at(s, i)
	at := i
	if k&(line|letter|number) == 0 {
		at += w
	}
	if end := c.run(s, at, letter); end > at {
		return end
	}
	if k&number != 0 {
		return digits(c, s, i, digit)
	}
	return punctuation(c, s, i, false)
}

// punctuation is " ?[^\s\p{L}\p{N}]+[\r\n]*", slash: with / among the line ends, or white.
func punctuation(c classes, s string, i int, slash bool) int {
	at := i
	if s[i] == ' ' {
		at++
	}
	end := c.runNot(s, at, space|letter|number)
	if end == at {
		return white(c, s, i)
	}
	for end < len(s) && (s[end] == '\r' || s[end] == '\n' || slash && s[end] == '/') {
		end++
	}
	return end
}

// scanDeepSeek is the last of DeepSeek's three expressions.
func scanDeepSeek(c classes, s string, i int) int {
	k, w := c.at(s, i)
	if s[i] < utf8.RuneSelf && k&symbol != 0 {
		end := i + 1
		for end < len(s) && (s[end]|0x20) >= 'a' && (s[end]|0x20) <= 'z' {
			end++
		}
		if end > i+1 {
			return end
		}
	}
	at := i
	if k&(line|letter|mark|symbol) == 0 {
		at += w
	}
	if end := c.run(s, at, letter|mark); end > at {
		return end
	}
	at = i
	if s[i] == ' ' {
		at++
	}
	end := c.run(s, at, symbol)
	if end == at {
		return white(c, s, i)
	}
	return c.run(s, end, line)
}

// scanO200K is gpt-oss's and, with single digits and without endings, Mistral's expression.
func scanO200K(c classes, s string, i, digit int, endings bool) int {
	k, w := c.at(s, i)
	end := -1
	outside := k&(line|letter|number) == 0
	if outside {
		end = cased(c, s, i+w)
	}
	if end < 0 {
		end = cased(c, s, i)
	}
	if end < 0 && outside {
		end = shouted(c, s, i+w)
	}
	if end < 0 {
		end = shouted(c, s, i)
	}
	switch {
	case end > 0 && endings:
		return max(end, ending(s, end, true))
	case end > 0:
		return end
	case k&number != 0:
		return digits(c, s, i, digit)
	}
	return punctuation(c, s, i, true)
}

// cased is upper*lower+ with backtracking: when no lower follows, the last of the upper ones
// that is both ends the match.
func cased(c classes, s string, i int) int {
	both, end := -1, i
	for {
		k, w := c.at(s, end)
		if k&upper == 0 {
			break
		}
		end += w
		if k&lower != 0 {
			both = end
		}
	}
	if low := c.run(s, end, lower); low > end {
		return low
	}
	return both
}

// shouted is upper+lower* where cased has not matched.
func shouted(c classes, s string, i int) int {
	if end := c.run(s, i, upper); end > i {
		return end
	}
	return -1
}
