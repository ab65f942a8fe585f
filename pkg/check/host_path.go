package check

import "fmt"

func hostPath() Check {
	return Check{
		Code: "MIF028", Title: "hostPath without a type", Severity: doubt,
		Why: "Without a type nothing is checked: on a node that lacks the path the container meets an empty directory, even where a file was meant.",
		Fix: "Add type = \"Directory\" or type = \"File\", and the pod says at once that the path is missing.",
		Run: func(c *Model) []Finding {
			var out []Finding
			for _, p := range pods(c) {
				for i, v := range listAt(p.spec, "volumes") {
					if h := mapAt(v, "hostPath"); h != nil && textAt(h, "type") == "" {
						out = append(out, p.finding(join("volumes", i)+".hostPath", fmt.Sprintf("The volume %q mounts %s of the node.", textAt(v, "name"), textAt(h, "path"))))
					}
				}
			}
			return out
		},
	}
}
