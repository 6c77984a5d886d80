//go:build series

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/docs/tables"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// tried is what became of a case on an image.
type tried struct {
	asIt, runs int
	why        string // of the first run that was not as it must be
}

// TestSeriesImageVersions runs the published failures on every image of IMAGES (words NAME=REF), with VERSION_SEEDS
// seeds (2), and writes docs/versions.md anew.
func TestSeriesImageVersions(t *testing.T) {
	images := strings.Fields(os.Getenv("IMAGES"))
	if len(images) == 0 {
		t.Fatal("IMAGES names no image: try IMAGES=\"$(.ci/versions)\" make series RUN=TestSeriesImageVersions")
	}
	seeds := setting.Number(t, "VERSION_SEEDS", 2)
	cat := harness.New(stores.All()...)
	var all []suite.Case
	for _, c := range cases.Set("published") {
		if r := topologyOf(t, cat, c).Nodes; len(r) > 0 && r[0].Image != "" {
			all = append(all, c)
		}
	}
	for _, fault := range []string{"client-pause", "leader-kill", "quorum-loss"} { // of an ensemble none is published
		all = append(all, suite.Case{
			Name: "etcd-" + fault, Text: "etcd-mutex on a cluster of three servers under " + fault + ": no update is lost, because the " +
				"create revision of the lock's key is the fencing token",
			Run:    suite.MustLine("--backend etcd-mutex --topology etcd-three --fencing on --nemesis " + fault + " --time 12s"),
			Expect: suite.Expectation{Exit: []int{0}},
		})
	}
	cells := make([][]tried, len(all))
	versions := make([]string, len(images))
	t.Run("runs", func(t *testing.T) {
		for i, c := range all {
			cells[i] = make([]tried, len(images))
			for j, image := range images {
				name, _, _ := strings.Cut(image, "=")
				if topologyOf(t, cat, c).Nodes[0].Image != name {
					continue
				}
				t.Run(fmt.Sprint(c.Name, " ", image), func(t *testing.T) {
					t.Parallel()
					var version string
					cells[i][j], version = tryImage(t, c, image, topologyOf(t, cat, c).Nodes[0].Binary, seeds)
					if version != "" && i == slices.IndexFunc(all,
						func(o suite.Case) bool { return topologyOf(t, cat, o).Nodes[0].Image == name }) {
						versions[j] = version
					}
				})
			}
		}
	})
	writeVersions(t, all, versions, cells, seeds)
}

func topologyOf(t *testing.T, cat *harness.Catalogue, c suite.Case) cluster.Topology {
	t.Helper()
	name := c.Run.Topology
	if name == "" {
		base, _, _ := strings.Cut(c.Run.Backend, ":")
		b, err := cat.Backends.Get(base)
		if err != nil {
			t.Fatal(err)
		}
		name = b.Topologies[0]
	}
	top, err := cat.Topologies.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func tryImage(t *testing.T, c suite.Case, image, program string, seeds int) (cell tried, version string) {
	for seed := range seeds {
		dir := filepath.Join(t.TempDir(), "run")
		run := c.Seeded(uint64(seed + 1)).Run
		// Before version 7, Redis servers that call each other need addresses of their own.
		run.Provider, run.Network, run.Images = "container", "bridge", []string{image}
		code, out := lockstorm(t, slices.Concat([]string{"run"}, run.Args(), []string{"--out", dir})...)
		r := results(t, dir)
		cell.runs++
		differ := c.Expect.Compare(code, r)
		switch {
		case r != nil && len(differ) == 0:
			cell.asIt++
		case cell.why != "":
		case r == nil:
			cell.why = "not run: " + lastOf(out)
		default:
			cell.why = differ[0].String()
		}
		if r != nil {
			version = r.Versions[program]
		}
		nothingLeft(t, dir)
	}
	return cell, version
}

// lastOf is the last line that a command printed.
func lastOf(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "lockstorm: ")
}

func writeVersions(t *testing.T, all []suite.Case, versions []string, cells [][]tried, seeds int) {
	t.Helper()
	table, err := measured.Read(filepath.Join(docs, "measured", "versions.csv"))
	if err != nil {
		t.Fatal(err)
	}
	table.About["date"], table.About["seeds"], table.About["machine"] = today(), fmt.Sprintf("1 to %d", seeds), cpus()+
		", three runs at once"
	table.Rows = nil
	for i, c := range all {
		for j, cell := range cells[i] {
			if cell.runs == 0 {
				continue
			}
			server := cleanVersion(versions[j])
			table.Rows = append(table.Rows, measured.Row{
				"case": c.Name + "/" + server, "shows": c.Text, "server": server, "as_expected_runs": strconv.Itoa(cell.asIt),
				"runs":             strconv.Itoa(cell.runs),
				"first_difference": cell.why, "command": c.Run.Line(),
			})
		}
	}
	if err := tables.Write(docs, "versions", table); err != nil {
		t.Fatal(err)
	}
}

// cleanVersion is the product and number in the line that a program prints.
func cleanVersion(line string) string {
	f := strings.Fields(line)
	switch {
	case len(f) >= 3 && strings.HasPrefix(f[2], "v="):
		return f[0] + " " + strings.TrimPrefix(f[2], "v=")
	case len(f) >= 3 && f[1] == "Version:":
		return f[0] + " " + f[2]
	}
	return line
}
