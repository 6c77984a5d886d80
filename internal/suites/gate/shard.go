package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/plan"
)

// Shard is a part of a suite, for one of several machines.
type Shard struct{ Number, Of int }

// ParseShard reads i/n.
func ParseShard(s string) (Shard, error) {
	i, n, ok := strings.Cut(s, "/")
	number, errI := strconv.Atoi(i)
	of, errN := strconv.Atoi(n)
	if !ok || errI != nil || errN != nil || number < 1 || of < 1 || number > of {
		return Shard{}, fmt.Errorf("--shard %s: write NUMBER/COUNT, for example 1/3 for the first of three parts (shards) of the suite",
			s)
	}
	return Shard{number, of}, nil
}

// String is the shard as it is given.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Number, s.Of) }

// Take are the cells of a shard. The split depends on nothing but the cells, never on what a host has: the
// longest first, each to the shard that has least to do, so that all end at about the same time. A cell
// that is skipped here counts as on a host where it is run. Every shard has the controls, for they are
// about its own machine.
func (s Shard) Take(cat *harness.Catalogue, cells []plan.Cell) []plan.Cell {
	shard := split(cat, cells, s.Of)
	var out []plan.Cell
	for i, c := range cells {
		if c.Control || shard[i] == s.Number-1 {
			out = append(out, c)
		}
	}
	return out
}

// cost is what a cell costs a machine: the time of its runs by the share of the machine that they take.
func cost(cat *harness.Catalogue, c plan.Cell) time.Duration {
	return time.Duration(len(c.Seeds)) * Takes(cat, c.Case) * time.Duration(min(Needs(cat, c.Case), sharesPerCore))
}

// split is the shard of each cell, from 0 on.
func split(cat *harness.Catalogue, cells []plan.Cell, of int) []int {
	costs, byLength := make([]time.Duration, len(cells)), make([]int, len(cells))
	for i, c := range cells {
		costs[i], byLength[i] = cost(cat, c), i
	}
	slices.SortStableFunc(byLength, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), strings.Compare(cells[a].Case.Name, cells[b].Case.Name))
	})
	load, out := make([]time.Duration, of), make([]int, len(cells))
	for _, i := range byLength {
		if cells[i].Control {
			continue
		}
		least := 0
		for n := range load {
			if load[n] < load[least] {
				least = n
			}
		}
		load[least] += costs[i]
		out[i] = least
	}
	return out
}

// Part makes a definition that of a shard: it knows all cells of the suite, so that merge can tell which are
// missing, and that other shards are of the same cells. cells are those of the whole suite.
func (d *Definition) Part(s Shard, cells []plan.Cell) {
	d.Shard, d.Whole = s.String(), nil
	all := slices.Clone(cells)
	for i, c := range all {
		if !c.Control {
			d.Whole = append(d.Whole, c.Case.Name)
		}
		all[i].Skip = "" // what a host lacks makes no other suite
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // cells are plain data
	}
	sum := sha256.Sum256(b)
	d.WholeSum = hex.EncodeToString(sum[:8])
}

// Matrix are the shards of a suite for the dynamic matrix of a CI service.
func Matrix(n int) map[string][]string {
	var out []string
	for i := 1; i <= n; i++ {
		out = append(out, Shard{i, n}.String())
	}
	return map[string][]string{"shard": out}
}
