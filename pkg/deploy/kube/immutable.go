package kube

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/pkg/state"
)

// immutableFields are the fields (as the server writes them: spec.selector) that a 422 calls
// immutable; nil when the refusal has another reason, also when only a part of it has.
func immutableFields(err error) []string {
	s := status(err)
	if !apierrors.IsInvalid(err) || s == nil || s.Details == nil {
		return nil
	}
	words := regexp.MustCompile(`(?i)immutable|may not (be )?change|may not be updated|updates to .* forbidden|forbidden: updates|cannot (be )?change|cannot be updated|self == oldSelf`)
	var out []string
	for _, c := range s.Details.Causes {
		if c.Type == metav1.CauseTypeFieldValueRequired || !words.MatchString(c.Message) {
			return nil
		}
		out = append(out, c.Field)
	}
	return out
}

// immutablePointers narrows the server's fields down to the JSON pointers below them that
// differ between live and predicted; a field without such a difference stands for itself.
func immutablePointers(fields []string, live, predicted any) []string {
	changed := changes("", live, predicted)
	var out []string
	for _, f := range fields {
		p := fieldPointer(f)
		n := len(out)
		for _, c := range changed {
			if p == "" || c == p || strings.HasPrefix(c, p+"/") {
				out = append(out, c)
			}
		}
		if len(out) == n {
			out = append(out, p)
		}
	}
	return out
}

// fieldPointer turns spec.ports[0].port or spec.selector[app.kubernetes.io/name] into a JSON pointer.
func fieldPointer(f string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile(`\[([^\]]*)\]|([^.\[]+)`).FindAllStringSubmatch(f, -1) {
		b.WriteString("/" + state.Escape(m[1]+m[2]))
	}
	return b.String()
}

// changes lists the JSON pointers of the leaves and subtrees that differ, in order of keys.
func changes(at string, a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return []string{at}
		}
		var out []string
		for _, k := range unionKeys(x, y) {
			l, inA := x[k]
			r, inB := y[k]
			if inA != inB {
				out = append(out, at+"/"+state.Escape(k))
				continue
			}
			out = append(out, changes(at+"/"+state.Escape(k), l, r)...)
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return []string{at}
		}
		var out []string
		for i := range x {
			out = append(out, changes(at+"/"+strconv.Itoa(i), x[i], y[i])...)
		}
		return out
	}
	if sameMeaning(a, b, "") {
		return nil
	}
	return []string{at}
}

func unionKeys(a, b map[string]any) []string {
	keys := make([]string, 0, len(a)+len(b))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// isAdmission tells a refusal by a webhook or policy from one by the object's schema.
func isAdmission(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "admission webhook") || strings.Contains(err.Error(), "ValidatingAdmissionPolicy"))
}
