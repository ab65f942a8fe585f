package kinds

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/resource"
)

// FuzzManifestFile: any file is answered with objects or diagnostics.
func FuzzManifestFile(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: '1'}\n",
		"---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n---\n# nothing\n---\nkind: 7\n",
		"a: &a [1, *a]\n", "a: &a {b: 1}\nc: {<<: *a}\n", "? {a: 1}\n: 2\n", "1: 2\n", "x: .nan\ny: 0x1F\nz: 1e400\n", "- a\n", "\t", "%YAML 9.9\n---\n...", "!!binary x", "metadata: []\nkind: x\napiVersion: a/b/c\n",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		name := filepath.Base(t.TempDir()) + ".yaml"
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, src, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		s := resource.Scope{Dir: dir, Stack: "fuzz", At: func(string) hcl.Range { return hcl.Range{} }}
		out, diags := expandManifest(s, &Manifest{File: &name})
		if !diags.HasErrors() && len(out.Objects) == 0 {
			t.Errorf("%q: neither objects nor diagnostics", src)
		}
		for _, o := range out.Objects {
			if o.ID.Kind == "" || o.ID.Name == "" {
				t.Errorf("%q: an object without identity: %+v", src, o.ID)
			}
		}
	})
}
