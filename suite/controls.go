package suite

import (
	"fmt"

	"github.com/lockstorm/lockstorm/harness"
)

// controlSeeds is how often each control is run.
const controlSeeds = 20

// Controls returns cases that show that the harness itself is right, with the seeds 1 to 20 each: no lock at all must
// fail, a correct lock without faults must pass.
func Controls() []Case {
	var cases []Case
	for seed := 1; seed <= controlSeeds; seed++ {
		for _, c := range []struct {
			name, text string
			exit       int
		}{
			{"none", "clients work without any lock: lockstorm must find a violation", harness.ExitViolation},
			{"file-flock", "clients use a file lock of the kernel: lockstorm must find no violation", harness.ExitPass},
			{"redis-lua", "clients use a correct lock of a Redis server: lockstorm must find no violation", harness.ExitPass},
		} {
			cases = append(cases, Case{
				Name: fmt.Sprintf("control-%s-%d", c.name, seed), Text: c.text,
				Run:    MustLine(fmt.Sprintf("--backend %s --nemesis none --time 1s --seed %d", c.name, seed)),
				Expect: Expectation{Exit: []int{c.exit}},
			})
		}
	}
	return cases
}
