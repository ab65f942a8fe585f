package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func tree(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func show(fields []FieldDiff) string {
	var out []string
	for _, f := range fields {
		s := fmt.Sprintf("%s %s %v -> %v", f.Op, f.Path, f.Before, f.After)
		if f.ForcesReplacement {
			s += " !"
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestDiff(t *testing.T) {
	cases := []struct {
		name, before, after, want string
		rules                     rules
	}{
		{name: "equal trees have no difference", before: "a: {b: [1, x]}", after: "a: {b: [1, x]}"},
		{name: "a leaf changes", before: "spec: {replicas: 1}", after: "spec: {replicas: 2}", want: "change /spec/replicas 1 -> 2"},
		{name: "a subtree is added by its leaves", before: "a: 1", after: "a: 1\nb: {c: 1, d: []}",
			want: "add /b/c <nil> -> 1\nadd /b/d <nil> -> []"},
		{name: "null differs from absent", before: "limits: {}", after: "limits: {cpu: null}", want: "add /limits/cpu <nil> -> <nil>"},
		{name: "row 3: a quantity in another notation is equal", before: `limits: {cpu: 1000m, memory: 1Gi}`, after: `limits: {cpu: 1, memory: "1073741824"}`},
		{name: "row 3: int-or-string is equal", before: `resources: {limits: {mellanox/hca: "1"}}`, after: `resources: {limits: {mellanox/hca: 1}}`},
		{name: "int-or-string is equal outside of resources, too", before: `port: "80"`, after: `port: 80`},
		{name: "two texts that would be equal quantities differ elsewhere", before: `value: "1Gi"`, after: `value: "1073741824"`,
			want: "change /value 1Gi -> 1073741824"},
		{name: "chart values keep their types", before: `port: "80"`, after: `port: 80`, rules: rules{typed: true}, want: "change /port 80 -> 80"},
		{name: "a bool is not a text", before: `flag: "true"`, after: `flag: true`, want: "change /flag true -> true"},
		{name: "containers are matched by name", before: "c: [{name: a, image: x}, {name: b, image: v}]", after: "c: [{name: b, image: z}]",
			want: "change /c/0/image v -> z\nremove /c/0/image x -> <nil>\nremove /c/0/name a -> <nil>"},
		{name: "a changed order is a change", before: "c: [{name: a}, {name: b}]", after: "c: [{name: b}, {name: a}]", want: "change /c [a b] -> [b a]"},
		{name: "lists of scalars of other length are shown whole", before: "args: [a, b]", after: "args: [a]", want: "change /args [a b] -> [a]"},
		{name: "ignored below a pointer", before: "spec: {a: 1, b: 1}", after: "spec: {a: 2, b: 2}", rules: rules{ignore: []string{"/spec/a"}},
			want: "change /spec/b 1 -> 2"},
		{name: "* ignores one step", before: "c: [{name: a, image: x}]", after: "c: [{name: a, image: y}]", rules: rules{ignore: []string{"/c/*/image"}}},
		{name: "escaped pointers", before: "m: {a/b: x}", after: "m: {a/b: y}", rules: rules{ignore: []string{"/m/a~1b"}}},
		{name: "an immutable field forces replacement", before: "spec: {sel: {a: 1}}", after: "spec: {sel: {a: 2}}",
			rules: rules{immutable: []string{"/spec/sel"}}, want: "change /spec/sel/a 1 -> 2 !"},
		{name: "row 8: a sensitive leaf is masked", before: "p: old", after: "p: new", rules: rules{sensitive: []string{"/p"}},
			want: "change /p (sensitive value) -> (sensitive value)"},
		{name: "row 8: a list shown whole hides the secret inside", before: "l: [a]", after: "l: [a, secret]", rules: rules{sensitive: []string{"/l/1"}},
			want: "change /l (sensitive value) -> (sensitive value)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, _ := c.rules.diff(tree(t, c.before), tree(t, c.after))
			if d := cmp.Diff(c.want, show(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMasksCompareByFingerprint(t *testing.T) {
	one, two := Mask("aa"), Mask("bb")
	same, _ := rules{}.diff(map[string]any{"k": one}, map[string]any{"k": one})
	differ, _ := rules{}.diff(map[string]any{"k": one}, map[string]any{"k": two})
	if len(same) != 0 || len(differ) != 1 || !differ[0].Sensitive {
		t.Fatalf("same %v, differ %v", same, differ)
	}
}

func TestQuantity(t *testing.T) {
	equal := [][2]any{
		{"1000m", int64(1)}, {"1Ki", "1024"}, {"1e3", "1k"}, {"0.5", "500m"}, {int64(2), 2.0}, {"1Gi", "1024Mi"}, {"+1", "1"}, {"100u", "0.1m"},
	}
	for _, p := range equal {
		a, aok := quantity(p[0])
		b, bok := quantity(p[1])
		if !aok || !bok || a.Cmp(b) != 0 {
			t.Errorf("%v and %v: %v %v", p[0], p[1], a, b)
		}
	}
	for _, bad := range []any{"", "x", "1 Gi", "1GiB", "--1", true, nil, "1e999"} {
		if q, ok := quantity(bad); ok {
			t.Errorf("%v is a quantity: %v", bad, q)
		}
	}
}

func FuzzQuantityNeverPanics(f *testing.F) {
	for _, s := range []string{"1", "1000m", "1e3", ".5Gi", "1E", "9999999999999999999Ei"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { quantity(s) })
}

func TestCountsUnchangedLeaves(t *testing.T) {
	_, n := rules{}.diff(tree(t, "a: 1\nb: {c: 2, d: [1, 2]}\ne: {}"), tree(t, "a: 9\nb: {c: 2, d: [1, 2]}\ne: {}"))
	if n != 4 {
		t.Errorf("unchanged %d, want 4", n)
	}
}
