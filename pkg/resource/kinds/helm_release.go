package kinds

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mifbench/mifbench/pkg/resource"
)

// HelmRelease are the options of a helm_release block.
type HelmRelease struct {
	Namespace     string    `hcl:"namespace" doc:"Namespace of the release."`
	Name          *string   `hcl:"name,optional" doc:"Release name; the block's label when absent."`
	Repository    *string   `hcl:"repository,optional" doc:"Chart repository URL, oci:// reference, or directory of charts or archives; absent when chart is a path."`
	Chart         string    `hcl:"chart" doc:"Chart name, directory or .tgz."`
	Version       *string   `hcl:"version,optional" doc:"Chart version or SemVer range; pinned with its digest at plan."`
	Values        cty.Value `hcl:"values,optional" doc:"Helm values."`
	Wait          *bool     `hcl:"wait,optional" doc:"Wait until the release's objects are ready." default:"true"`
	Atomic        *bool     `hcl:"atomic,optional" doc:"Roll back a failed install or upgrade (this destroys the evidence)." default:"false"`
	TakeOwnership *bool     `hcl:"take_ownership,optional" doc:"Take over objects that exist without Helm's marks." default:"false"`
	SkipCRDs      *bool     `hcl:"skip_crds,optional" doc:"Do not install the chart's crds/." default:"false"`
	UpgradeCRDs   *bool     `hcl:"upgrade_crds,optional" doc:"Apply the chart's crds/ also when the cluster has other ones: Helm never upgrades them." default:"false"`
	Username      *string   `hcl:"username,optional" doc:"User of a private repository."`
	Password      *string   `hcl:"password,optional" doc:"Password of a private repository; sensitive." sensitive:"true"`
}

func expandHelmRelease(s resource.Scope, o *HelmRelease) (resource.Expansion, hcl.Diagnostics) {
	name := orDefault(o.Name, s.Address.Name)
	diags := checkDNSLabel(s, "name", name)
	values, d := jsonMapAttr(s, "values", o.Values)
	diags = append(diags, d...)
	if isTrue(o.SkipCRDs) && isTrue(o.UpgradeCRDs) {
		diags = diags.Append(s.Error("upgrade_crds", "Contradicting attributes", "skip_crds = true leaves the chart's crds/ alone, upgrade_crds = true applies them: drop one of the two."))
	}
	rel := release(s, o.Namespace, name, resource.ReleaseSpec{
		Repository: orDefault(o.Repository, ""), Chart: o.Chart, Version: orDefault(o.Version, ""), Values: values,
		Wait: o.Wait == nil || *o.Wait, Atomic: isTrue(o.Atomic), TakeOwnership: isTrue(o.TakeOwnership),
		SkipCRDs: isTrue(o.SkipCRDs), UpgradeCRDs: isTrue(o.UpgradeCRDs), Username: orDefault(o.Username, ""), Password: orDefault(o.Password, ""),
	})
	return resource.Expansion{
		Objects: []resource.Object{rel},
		Attrs:   attrs(map[string]string{"name": name, "namespace": o.Namespace}),
	}, diags
}

func isTrue(b *bool) bool { return b != nil && *b }

// release is one driver-helm object. Relative chart and repository paths are made absolute,
// since the driver does not know where the file lies.
func release(s resource.Scope, namespace, name string, spec resource.ReleaseSpec) resource.Object {
	spec.Repository = anchored(s.Dir, spec.Repository)
	if spec.Repository == "" {
		spec.Chart = anchored(s.Dir, spec.Chart)
	}
	o := resource.Object{
		Address: s.Address,
		ID:      resource.ID{Driver: resource.DriverHelm, APIVersion: "helm.sh/v3", Kind: "Release", Namespace: namespace, Name: name},
		Spec:    specMap(spec),
		Range:   s.Block,
	}
	if spec.Password != "" {
		o.Sensitive = []string{"/password"}
	}
	return o
}

// anchored makes ./x and ../x absolute; URLs, names and absolute paths stay.
func anchored(dir, path string) string {
	if path == "." || path == ".." || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		return filepath.Join(dir, path)
	}
	return path
}

// specMap turns one of the Spec structs into JSON values; values keep their exact numbers.
func specMap(spec any) map[string]any {
	b, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("spec %T does not marshal: %v", spec, err))
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		panic(fmt.Sprintf("spec %T does not unmarshal: %v", spec, err))
	}
	if r, ok := spec.(resource.ReleaseSpec); ok && r.Values != nil {
		m["values"] = r.Values
	}
	return m
}
