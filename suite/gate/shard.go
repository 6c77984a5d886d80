package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/suite/plan"
)

// Shard is a part of a suite, for one of several machines.
type Shard struct{ Number, Of int }

// ParseShard reads i/n.
func ParseShard(s string) (Shard, error) {
	i, n, ok := strings.Cut(s, "/")
	number, errI := strconv.Atoi(i)
	of, errN := strconv.Atoi(n)
	if !ok || errI != nil || errN != nil || number < 1 || of < 1 || number > of {
		return Shard{}, fmt.Errorf("--shard %s: want i/n, as 1/3: the first of three", s)
	}
	return Shard{number, of}, nil
}

// String is the shard as it is given.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

// Take are the cells of a shard. The split depends on nothing but the cells: the longest first, each to
// the shard that has least to do, so that all end at about the same time. Every shard has the
// controls, for they are about its own machine.
func (s Shard) Take(cat *harness.Catalogue, cells []plan.Cell) []plan.Cell {
	byLength := make([]int, len(cells))
	for i := range cells {
		byLength[i] = i
	}
	costs := func(i int) time.Duration {
		c := cells[i]
		return time.Duration(len(c.Seeds)) * declared(cat, c.Run) * time.Duration(min(needs(cat, c.Run), sharesPerCore))
	}
	slices.SortStableFunc(byLength, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs(b), costs(a)), strings.Compare(cells[a].Name, cells[b].Name))
	})
	load, mine := make([]time.Duration, s.Of), map[int]bool{}
	for _, i := range byLength {
		if cells[i].Control {
			mine[i] = true
			continue
		}
		least := 0
		for n := range load {
			if load[n] < load[least] {
				least = n
			}
		}
		if cells[i].Skip == "" { // what is not run costs nothing
			load[least] += costs(i)
		}
		mine[i] = least == s.Number-1
	}
	var out []plan.Cell
	for i, c := range cells {
		if mine[i] {
			out = append(out, c)
		}
	}
	return out
}

// Matrix are the shards of a suite for the dynamic matrix of a CI service.
func Matrix(n int) map[string][]string {
	var out []string
	for i := 1; i <= n; i++ {
		out = append(out, Shard{i, n}.String())
	}
	return map[string][]string{"shard": out}
}
