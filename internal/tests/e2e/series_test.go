//go:build series

package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite"
)

// shown is what the seeds of a case gave.
type shown struct {
	mu       sync.Mutex
	runs     int
	asIt     int     // runs that ended as they must
	first    []int64 // times to the first violation, ns
	recovery []int64 // longest times until the lock came back after a fault, ns
}

// series runs every case with so many seeds, from 1 on.
func series(t *testing.T, seeds int, cases []suite.Case) []shown {
	all := make([]shown, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			for seed := 1; seed <= seeds; seed++ {
				t.Run(fmt.Sprintf("%s/%d", c.Name, seed), func(t *testing.T) {
					t.Parallel()
					all[i].run(t, c.Seeded(uint64(seed)))
				})
			}
		}
	})
	return all
}

func (s *shown) run(t *testing.T, c suite.Case) {
	r := runCase(t, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	if !t.Failed() {
		s.asIt++
	}
	if r == nil {
		return
	}
	if at, ok := r.Stats["first_violation_ns"]; ok && exitOf(c) != harness.ExitPass {
		s.first = append(s.first, at)
	}
	if at, ok := r.Stats["recovery_max_ns"]; ok {
		s.recovery = append(s.recovery, at)
	}
}

// exitOf is the exit code that a case ends with; where any will do, that of a pass.
func exitOf(c suite.Case) int {
	if len(c.Expect.Exit) == 0 {
		return harness.ExitPass
	}
	return c.Expect.Exit[0]
}
