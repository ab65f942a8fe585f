package resource

import (
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Driver names: who observes, applies and deletes an object.
const (
	DriverKube = "kube" // one Kubernetes object, server-side applied
	DriverHelm = "helm" // one Helm release
	DriverECR  = "ecr"  // one image-pull Secret whose content is minted or copied
)

// ID identifies one object of the world. It is comparable; two objects of a
// configuration with equal Key are a mistake of the author.
type ID struct {
	Driver string `json:"driver"`
	// APIVersion is group/version as in a manifest ("v1", "apps/v1"); "helm.sh/v3" for releases.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Group is the API group, "" for the core group.
func (id ID) Group() string {
	if g, _, ok := strings.Cut(id.APIVersion, "/"); ok {
		return g
	}
	return ""
}

// Key is the identity without driver and version: what Kubernetes would call the same object.
func (id ID) Key() string {
	return strings.Join([]string{id.Group(), id.Kind, id.Namespace, id.Name}, "/")
}

// String is the form for people: Gateway deepseek-r1-benchmark/mif.
func (id ID) String() string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// Object is one thing that should exist, wanted by one block instance.
type Object struct {
	Address Address `json:"address"`
	ID      ID      `json:"id"`
	// Spec is what the author wants, as JSON values (nil, bool, int64, float64, string,
	// []any, map[string]any). Driver kube: the manifest, only the fields the author wrote.
	// Driver helm: see ReleaseSpec. Driver ecr: see CredentialSpec.
	Spec map[string]any `json:"spec"`
	// Sensitive lists JSON pointers into Spec whose values must never be shown or stored.
	Sensitive []string `json:"sensitive,omitempty"`
	// DependsOn lists objects of the same configuration that must be ready first.
	DependsOn []ID    `json:"dependsOn,omitempty"`
	Options   Options `json:"options"`
	// Range is the block that wants the object.
	Range hcl.Range `json:"-"`
}

// Options are the meta-arguments that every resource block accepts.
type Options struct {
	PreventDestroy bool     `json:"preventDestroy,omitempty"`
	KeepOnDestroy  bool     `json:"keepOnDestroy,omitempty"`
	IgnoreChanges  []string `json:"ignoreChanges,omitempty"` // JSON pointers, * matches one step
	ForceConflicts bool     `json:"forceConflicts,omitempty"`
	Adopt          bool     `json:"adopt,omitempty"`
	// Timeouts; 0 means the driver's default for the kind.
	CreateTimeout time.Duration `json:"createTimeout,omitempty"`
	UpdateTimeout time.Duration `json:"updateTimeout,omitempty"`
	DeleteTimeout time.Duration `json:"deleteTimeout,omitempty"`
	// Wait replaces the readiness rule of the kind when not nil.
	Wait *Wait `json:"wait,omitempty"`
}

// Wait is the author's own readiness rule.
type Wait struct {
	// Conditions maps condition types to the status they must have ("True").
	Conditions map[string]string `json:"conditions,omitempty"`
	// Fields maps JSONPath-like dotted paths to the value they must have.
	Fields map[string]string `json:"fields,omitempty"`
	// None means: existing is enough.
	None bool `json:"none,omitempty"`
}
