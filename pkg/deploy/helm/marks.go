package helm

import (
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/mifbench/mifbench/pkg/deploy"
	"github.com/mifbench/mifbench/pkg/resource"
)

// Labels of a release's record: they are written with the record, so a release is never ours
// without saying so, and the helm command carries them from one revision to the next.
const (
	stackLabel = "mifbench.dev/stack"
	kindLabel  = "mifbench.dev/kind"
	nameLabel  = "mifbench.dev/name"
	// addressLabel holds an address with a module or a key, which no label value may spell: base32, cut
	// into as many labels (address, address-2, …) as it takes.
	addressLabel = "mifbench.dev/address"
)

// dependsAnnotation, in the record's copy of the chart's metadata, is a JSON list of resource.ID: what a
// rebuilt state needs to know of the order. It has no limit of length; the helm command drops it when
// somebody upgrades by hand.
const dependsAnnotation = "mifbench.dev/depends-on"

// labelLength is the longest value of a label.
const labelLength = 63

func labels(q deploy.Query) map[string]string {
	a := q.Want.Address
	out := map[string]string{stackLabel: q.Stack, kindLabel: a.Kind, nameLabel: a.Name}
	for k, v := range out {
		if !validLabel(v) {
			delete(out, k)
		}
	}
	// The labels of an earlier address give way: Helm drops a label whose value is "null".
	for i := range 4 {
		out[numbered(i)] = "null"
	}
	if a.Module != "" || a.Key != "" {
		text := strings.ToLower(encoding().EncodeToString([]byte(a.String())))
		for i := 0; text != ""; i++ {
			n := min(labelLength, len(text))
			out[numbered(i)], text = text[:n], text[n:]
		}
	}
	return out
}

func encoding() *base32.Encoding { return base32.HexEncoding.WithPadding(base32.NoPadding) }

func numbered(i int) string {
	if i == 0 {
		return addressLabel
	}
	return fmt.Sprintf("%s-%d", addressLabel, i+1)
}

// addressOf is what labels wrote; zero where the labels say nothing.
func addressOf(l map[string]string) resource.Address {
	var text strings.Builder
	for i := 0; l[numbered(i)] != ""; i++ {
		text.WriteString(l[numbered(i)])
	}
	raw, err := encoding().DecodeString(strings.ToUpper(text.String()))
	if a, perr := resource.ParseAddress(string(raw)); err == nil && perr == nil {
		return a
	}
	return resource.Address{Kind: l[kindLabel], Name: l[nameLabel]}
}

func validLabel(v string) bool {
	const edge = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if v == "" || len(v) > labelLength || !strings.Contains(edge, v[:1]) || !strings.Contains(edge, v[len(v)-1:]) {
		return false
	}
	return strings.Trim(v, edge+"-_.") == ""
}

// mark writes the order into the chart that the record will hold.
func mark(ch *chart.Chart, want *resource.Object) {
	notes := maps.Clone(ch.Metadata.Annotations)
	delete(notes, dependsAnnotation)
	if len(want.DependsOn) > 0 {
		text, err := json.Marshal(want.DependsOn)
		if err != nil {
			panic("helm: " + err.Error())
		}
		if notes == nil {
			notes = map[string]string{}
		}
		notes[dependsAnnotation] = string(text)
	}
	ch.Metadata.Annotations = notes
}

// dependsOn is what mark wrote; nil when the record says nothing or something else.
func dependsOn(r *release.Release) []resource.ID {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return nil
	}
	var out []resource.ID
	if json.Unmarshal([]byte(r.Chart.Metadata.Annotations[dependsAnnotation]), &out) != nil {
		return nil
	}
	return out
}
