package check

import "fmt"

func containerName() Check {
	return Check{
		Code: "MIF025", Title: "Override of no container", Severity: doubt,
		Why: "Containers are merged by name and the engine's is called main: another name adds a second container and leaves the engine as it was.",
		Fix: "Name the container \"main\"; where a sidecar is meant, give it an image.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, e := range c.services {
				if len(e.options.TemplateRefs) == 0 {
					continue
				}
				list, path := e.containers()
				for i, x := range list {
					if name := textAt(x, "name"); name != mainContainer && textAt(x, "image") == "" {
						out = append(out, e.finding(join(path, i)+".name", fmt.Sprintf("The container %q has no image and is not the engine's.", name)))
					}
				}
			}
			return out
		},
	}
}
