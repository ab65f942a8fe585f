package record

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func FuzzReader(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "v2.mifrec"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := readAll(data)
		if err == nil {
			t.Fatal("reading never ends with nil")
		}
		for i := range got {
			if _, err := appendRecord(nil, &got[i], 1000); err != nil && !strings.Contains(err.Error(), "out of range") {
				t.Fatal(err)
			}
		}
	})
}

// FuzzRecord goes past the checksum, straight into the decoder.
func FuzzRecord(f *testing.F) {
	rng := rand.New(rand.NewPCG(2, 3))
	for range 5 {
		r := anyRecord(rng)
		b, err := appendRecord(nil, &r, 1000)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := decoder{b: data}
		var r, again Record
		if d.record(&r, 1000) != nil {
			return
		}
		b, err := appendRecord(nil, &r, 1000)
		if err != nil {
			return
		}
		d = decoder{b: b}
		if err := d.record(&again, 1000); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}
