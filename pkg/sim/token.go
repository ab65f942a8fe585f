package sim

import (
	"encoding/binary"
	"hash/fnv"
	"unicode"
	"unicode/utf8"
)

// maxPiece is the most bytes of a word in one token.
const maxPiece = 8

// Tokenize counts and identifies tokens without a vocabulary. The rule, the same
// for prompts and for the /tokenize endpoint:
//
//   - a word is a run of letters and digits, with the one space before it if
//     there is one; it is cut into pieces of at most 8 letters or digits, each
//     one token;
//   - any other run of white space is one token;
//   - any other character is one token.
//
// English text comes to about 1.3 tokens a word, near to real tokenizers, not
// equal to any. A token's id is a hash of its piece, below 128,000.
func Tokenize(text string) []int {
	ids := make([]int, 0, len(text)/4+1)
	for len(text) > 0 {
		n := nextToken(text)
		ids = append(ids, tokenID(text[:n]))
		text = text[n:]
	}
	return ids
}

// CountTokens is len(Tokenize(text)) without the list.
func CountTokens(text string) (count int) {
	for len(text) > 0 {
		text = text[nextToken(text):]
		count++
	}
	return count
}

// nextToken is the length in bytes of the first token of a text that is not empty.
func nextToken(text string) int {
	i := 0
	if text[0] == ' ' {
		i = 1
	}
	end := i
	for n := 0; n < maxPiece && end < len(text); n++ {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !wordRune(r) {
			break
		}
		end += size
	}
	if end > i {
		return end
	}
	for end = 0; end < len(text); {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsSpace(r) || (r == ' ' && end > 0 && wordFollows(text[end+1:])) {
			break
		}
		end += size
	}
	if end > 0 {
		return end
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func wordFollows(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return wordRune(r)
}

func tokenID(piece string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(piece)) // never fails
	return int(h.Sum32() % 128_000)
}

// chainHashes hashes each whole block together with all before it.
func chainHashes(ids []int) []uint64 {
	out := make([]uint64, 0, len(ids)/blockSize)
	h := fnv.New64a()
	var buf [8]byte
	for i, id := range ids {
		binary.LittleEndian.PutUint64(buf[:], uint64(id))
		_, _ = h.Write(buf[:]) // never fails
		if i%blockSize == blockSize-1 {
			out = append(out, h.Sum64())
		}
	}
	return out
}

// words are the answer's vocabulary: one token each by the rule above.
var words = [...]string{ //nolint:gochecknoglobals // read-only table
	" the", " of", " and", " a", " to", " in", " is", " it", " that", " was", " for", " on", " with", " as", " at", " by",
	" light", " stone", " river", " small", " engine", " number", " paper", " morning", " question", " answer", " time",
	" house", " field", " quiet", " long", " measure",
}

// word is token i of the answer with that seed.
func word(seed uint64, i int) string {
	return words[mix(seed+uint64(i))%uint64(len(words))]
}
