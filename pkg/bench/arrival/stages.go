package arrival

import (
	"fmt"
	"iter"
	"math"
	"time"
)

// stages: rates that follow one another, by steps or linear ramps; then it ends.
func stages() Process {
	return Process{
		Name: "stages", Doc: "a list of rates and lengths, by steps or ramps", check: checkStages,
		offsets: func(s Spec) iter.Seq[time.Duration] {
			segments := segmentsOf(s.Stages)
			return warped(s, func(n float64) float64 {
				start := 0.0
				for _, g := range segments {
					if all := g.expected(); n >= all {
						n -= all
						start += g.length
						continue
					}
					return start + g.at(n)
				}
				return math.NaN() // past the last stage
			})
		},
	}
}

func segmentsOf(stages []Stage) []segment {
	var gs []segment
	before := 0.0
	for _, st := range stages {
		g := segment{st.Rate, st.Rate, st.Length.Seconds()}
		if st.Ramp {
			g.from = before
		}
		gs = append(gs, g)
		before = st.Rate
	}
	return gs
}

func checkStages(s Spec) string {
	if len(s.Stages) == 0 {
		return "wants at least one stage"
	}
	for i, st := range s.Stages {
		if !(st.Rate >= 0) || math.IsInf(st.Rate, 1) || st.Length <= 0 {
			return fmt.Sprintf("stage %d wants a rate of 0 or more and a length above 0", i+1)
		}
	}
	return ""
}
