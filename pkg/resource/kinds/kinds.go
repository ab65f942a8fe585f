// Package kinds holds the resource kinds, one file each, and the table of them.
// A kind is pure: a block's options in, objects out. Mistakes of the author that
// one block shows come back as diagnostics; what needs two blocks or the cluster
// is a check, not a kind's business.
package kinds

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/mifbench/mifbench/pkg/resource"
)

// All is the table of resource kinds, sorted by name.
func All() []resource.Kind {
	return []resource.Kind{
		kind("ecr_credentials", "An image-pull Secret for a private registry: minted from ECR, copied by a replicator, or taken from a docker config file.", expandECRCredentials),
		kind("gateway", "A Gateway API Gateway with the ConfigMap of its infrastructure overlay.", expandGateway),
		kind("heimdall", "The Heimdall scheduler: a Helm release that understands the endpoint picker.", expandHeimdall),
		kind("helm_release", "Any Helm chart as one release.", expandHelmRelease),
		kind("inference_service", "An Odin InferenceService: one role of the inference stack.", expandInferenceService),
		kind("manifest", "Any Kubernetes object, or all objects of a YAML file.", expandManifest),
		kind("namespace", "A Kubernetes namespace.", expandNamespace),
	}
}

// kind builds a row from an options type and its expand function, so that the compiler
// finds a row whose function does not fit.
func kind[T any](name, doc string, expand func(resource.Scope, *T) (resource.Expansion, hcl.Diagnostics)) resource.Kind {
	return resource.Kind{
		Name: name,
		Doc:  doc,
		New:  func() any { return new(T) },
		Expand: func(s resource.Scope, options any) (resource.Expansion, hcl.Diagnostics) {
			o, ok := options.(*T)
			if !ok {
				panic(fmt.Sprintf("kind %s: options are %T", name, options))
			}
			return expand(s, o)
		},
	}
}
