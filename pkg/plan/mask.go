package plan

import "strings"

const maskOpen = "(sensitive value"

// Hidden is what people see instead of a secret.
const Hidden = maskOpen + ")"

// Mask is what a driver puts into an observation in the place of a secret: it
// tells that a value changed (the fingerprint differs) and nothing else. The
// fingerprint must be keyed (state.Fingerprint with the query's salt).
func Mask(fingerprint string) string {
	if fingerprint == "" {
		return Hidden
	}
	return maskOpen + " #" + fingerprint + ")"
}

// Masked tells whether v stands for a secret.
func Masked(v any) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, maskOpen) && strings.HasSuffix(s, ")")
}
