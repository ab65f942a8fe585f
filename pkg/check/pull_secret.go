package check

import (
	"fmt"
	"strings"
)

func pullSecret() Check {
	return Check{
		Code: "MIF027", Title: "Private image without a pull secret", Severity: doubt,
		Why: "The registry refuses to hand out the image unless the node has it already or the namespace's ServiceAccount names a secret.",
		Fix: "Name the secret: imagePullSecrets = [{ name = ecr_credentials.<name>.secret_name }], for heimdall image_pull_secrets.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range pods(c) {
				if len(listAt(p.spec, "imagePullSecrets")) > 0 || p.partial {
					continue
				}
				for i, x := range listAt(p.spec, "containers") {
					if image := textAt(x, "image"); private(image) {
						out = append(out, p.finding(join("containers", i)+".image", fmt.Sprintf("The image %s is in a private registry, and the pod names no pull secret.", image)))
						break
					}
				}
			}
			for _, s := range c.schedulers {
				image := textAt(s.values, "image", "repository")
				secrets := len(listAt(s.values, "global", "imagePullSecrets")) + len(listAt(s.values, "image", "pullSecrets"))
				if secrets == 0 && (image == "" || private(image)) {
					out = append(out, s.finding(s.valuePath("image_pull_secrets", "image", "repository"), "The scheduler's image is in a private registry, and the release names no pull secret."))
				}
			}
			return out
		},
	}
}

// private tells whether an image is in an ECR registry.
func private(image string) bool {
	host, _, ok := strings.Cut(image, "/")
	return ok && strings.Contains(host, ".dkr.ecr.") && strings.Contains(host, ".amazonaws.com")
}
