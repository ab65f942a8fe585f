package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxDigests bounds the size of Entry.Fields; bigger objects are hashed by coarser parts.
const maxDigests = 256

// Fingerprint is a keyed hash (HMAC-SHA256, hex) of a JSON value. Map order does
// not matter, the type of a number does not matter (1 and 1.0 are the same), and
// the salt is the state's, so that fingerprints of two stacks cannot be compared.
// A value that is no JSON value panics: it is a caller's mistake.
func Fingerprint(salt string, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("state: fingerprint of a value that is not JSON: %v", err))
	}
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// Digests are short keyed hashes (8 hex digits) of the parts of a spec, by JSON
// pointer, at most 256 of them: leaf by leaf where the object is small, by
// subtree where it is large (a CRD).
func Digests(salt string, spec map[string]any) map[string]string {
	for depth := 16; ; depth-- {
		out := map[string]string{}
		digest(salt, "", spec, depth, out)
		if len(out) <= maxDigests || depth == 0 {
			return out
		}
	}
}

// DigestAt says what Digests would have written for the part of spec that holds
// pointer, given the pointers that were recorded: the recorded pointer that
// covers it and today's hash there. ok is false when nothing covers it.
func DigestAt(salt string, spec map[string]any, recorded map[string]string, pointer string) (at, hash string, ok bool) {
	for at = pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
		if _, found := recorded[at]; found {
			v, exists := Lookup(spec, at)
			if !exists {
				return at, "", true
			}
			return at, short(salt, v), true
		}
		if at == "" {
			return "", "", false
		}
	}
}

// Lookup follows a JSON pointer (RFC 6901) into a JSON value.
func Lookup(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch t := v.(type) {
		case map[string]any:
			next, ok := t[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Escape makes one step of a JSON pointer.
func Escape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}

func digest(salt, at string, v any, depth int, out map[string]string) {
	if depth > 0 {
		switch t := v.(type) {
		case map[string]any:
			for k, child := range t {
				digest(salt, at+"/"+Escape(k), child, depth-1, out)
			}
			if len(t) > 0 {
				return
			}
		case []any:
			for i, child := range t {
				digest(salt, at+"/"+strconv.Itoa(i), child, depth-1, out)
			}
			if len(t) > 0 {
				return
			}
		}
	}
	out[at] = short(salt, v)
}

func short(salt string, v any) string { return Fingerprint(salt, v)[:8] }
