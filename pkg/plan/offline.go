package plan

import (
	"slices"

	"github.com/mifbench/mifbench/pkg/resource"
)

// Unseen is the input of a plan that nobody was asked for: the desired objects as in an empty
// cluster and without a state, each with the author's text in the place of the server's answer.
// Charts stay closed, since they may lie behind the network.
func Unseen(stack string, desired []resource.Object, o Options) Input {
	in := Input{Stack: stack, Options: o, Observations: make(map[resource.ID]Observation, len(desired))}
	for _, d := range desired {
		if d.ID.Kind == "Secret" && d.ID.Group() == "" {
			d.Sensitive = append(slices.Clone(d.Sensitive), "/data/*", "/stringData/*")
		}
		in.Desired = append(in.Desired, d)
		in.Observations[d.ID] = Observation{ID: d.ID, Predicted: d.Spec, Offline: "planned without a cluster"}
	}
	return in
}
