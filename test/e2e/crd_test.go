package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeChart adds a chart to the user's directory.
func (u stormy) writeChart(name string, files map[string]string) {
	u.t.Helper()
	files["Chart.yaml"] = "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"
	for path, text := range files {
		path = filepath.Join(u.dir, name, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			u.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			u.t.Fatal(err)
		}
	}
}

// gadgetCRD is a CRD of kind Gadget in the group, as YAML.
func gadgetCRD(group string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, unit: {type: string, default: mm}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`
}

// TestComplaint01CustomResourceAndItsDefinitionInOneGo: the definition comes from this plan, by a
// manifest, by a chart's templates or by a chart's crds/; the object is a manifest or of a chart.
// Plan, apply and destroy take one go each.
func TestComplaint01CustomResourceAndItsDefinitionInOneGo(t *testing.T) {
	t.Parallel()
	const chartBlock = "helm_release \"crds\" {\n  namespace = namespace.bench.name\n  chart = \"./crds\"\n}\n"
	gadget := func(group, ns string) string {
		return "apiVersion: " + group + "/v1\nkind: Gadget\nmetadata: {name: one, namespace: " + ns + "}\nspec: {size: 1}\n"
	}
	for _, c := range []struct {
		name  string
		files map[string]string // of chart crds; GROUP and NS are replaced
		hcl   string
		kept  bool // crds/ outlive the release: Helm never deletes them
	}{
		{"manifests", nil, `
manifest "definition" { file = "crd.yaml" }
manifest "gadget" { file = "gadget.yaml" }
`, false},
		{"templates", map[string]string{"templates/crd.yaml": "CRD"}, chartBlock + "manifest \"gadget\" { file = \"gadget.yaml\" }\n", false},
		{"crds", map[string]string{"crds/crd.yaml": "CRD", "templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"}, chartBlock + "manifest \"gadget\" { file = \"gadget.yaml\" }\n", true},
		{"chart", map[string]string{"crds/crd.yaml": "CRD", "templates/gadget.yaml": "GADGET"}, chartBlock, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ns := "crd-" + c.name
			group := ns + ".example.org"
			u := newStormy(t, "tiny.mif.hcl", ns)
			for path, text := range c.files {
				c.files[path] = strings.NewReplacer("CRD", gadgetCRD(group), "GADGET", gadget(group, ns)).Replace(text)
			}
			if c.files != nil {
				u.writeChart("crds", c.files)
			}
			u.write("crd.yaml", gadgetCRD(group))
			u.write("gadget.yaml", gadget(group, ns))
			u.write("more.mif.hcl", c.hcl)
			contains(t, u.must(2, "plan", "--detailed-exitcode", "--expand"), "Gadget "+ns+"/one", "gadgets."+group)
			u.must(0, "apply", "--auto-approve")
			one := "/apis/" + group + "/v1/namespaces/" + ns + "/gadgets/one"
			if at(u.live(one), "spec", "unit") != "mm" { // a default of the definition
				t.Fatalf("%v", u.live(one))
			}
			contains(t, u.must(0, "plan", "--detailed-exitcode"), "No changes.")
			contains(t, u.must(0, "destroy", "--auto-approve"), "0 objects of this stack remain")
			crd := u.live("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets." + group)
			if (crd != nil) != c.kept {
				t.Errorf("the definition is there: %v", crd != nil)
			}
		})
	}
}
