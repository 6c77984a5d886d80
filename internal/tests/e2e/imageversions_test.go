//go:build series

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/suites/cases"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
	"github.com/lockstorm/lockstorm/suite"
)

// tried is what became of a case on an image.
type tried struct {
	asIt, runs int
	why        string // of the first run that was not as it must be
}

// String is a cell of the page.
func (c tried) String() string {
	switch {
	case c.runs == 0:
		return ""
	case c.asIt == c.runs:
		return fmt.Sprintf("%d of %d", c.asIt, c.runs)
	}
	return fmt.Sprintf("%d of %d: %s", c.asIt, c.runs, c.why)
}

// TestSeriesImageVersions runs the published failures on every image of IMAGES (words NAME=REF), with VERSION_SEEDS
// seeds (2), and writes docs/versions.md anew.
func TestSeriesImageVersions(t *testing.T) {
	images := strings.Fields(os.Getenv("IMAGES"))
	if len(images) == 0 {
		t.Fatal("IMAGES names no image: see `make image-versions`")
	}
	seeds := setting.Number(t, "VERSION_SEEDS", 2)
	cat := harness.New(stores.All()...)
	var all []suite.Case
	for _, c := range cases.Published() {
		if r := topologyOf(t, cat, c).Nodes; len(r) > 0 && r[0].Image != "" {
			all = append(all, c)
		}
	}
	for _, fault := range []string{"client-pause", "leader-kill", "quorum-loss"} { // of an ensemble none is published
		all = append(all, suite.Case{
			Name: "etcd-" + fault, Text: "etcd-mutex on a cluster of three servers under " + fault + ": no update is lost, because the create revision of the lock's key is the fencing token",
			Run: suite.MustLine("--backend etcd-mutex --topology etcd-three --fencing on --nemesis " + fault + " --time 12s"), Expect: suite.Expectation{Exit: []int{0}},
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
					if version != "" && i == slices.IndexFunc(all, func(o suite.Case) bool { return topologyOf(t, cat, o).Nodes[0].Image == name }) {
						versions[j] = version
					}
				})
			}
		}
	})
	writeVersions(t, all, images, versions, cells, seeds)
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

func writeVersions(t *testing.T, all []suite.Case, images, versions []string, cells [][]tried, seeds int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# Other versions, and another product

<!-- Written by %[1]smake image-versions%[1]s. Do not edit. -->

[The track record](track-record.md) lists published failures of locks. For this page, the runs of the track record were repeated on servers of other versions, and on Valkey, which is compatible with
Redis. The page also has three cases on an etcd cluster; in these cases the expected result is that no update is lost. All servers run in containers
(%[1]s--network bridge --image NAME=REF%[1]s). The container images are built from those releases of Debian that contain the tested versions.
For each case, the expected result is defined in advance: the exit code, the verdicts, and the classes of findings. In the tables,
each version has a column, which shows how many of %[2]d runs had the expected result. If a run had another result, the column also describes how this
result differs from the expected result. If several runs had another result, the column describes only the first of these runs. The words "not run"
mean that the command ended without a result.

The runs were made on a machine with %[3]s, and three runs were active at the same time.
On such a busy machine a restart or a fail-over may take longer than the lease of the
lock. The lease then expires before the servers are back, so no second client gets the lock while the lease is running, and the run does not show the
violation. (The default lease with Sentinel lasts 3 s. Even if no other run is active, a fail-over of Redis 6 takes 2.9 s.)

`, "`", seeds, cpus())
	for _, name := range []string{"redis", "etcd"} {
		var of []int
		for j, image := range images {
			if strings.HasPrefix(image, name+"=") {
				of = append(of, j)
			}
		}
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n| case | `lockstorm run ...` |", name)
		for _, j := range of {
			fmt.Fprintf(&b, " %s |", cleanVersion(versions[j]))
		}
		b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(of)) + "\n")
		for i, c := range all {
			row, any := "", false
			for _, j := range of {
				row += fmt.Sprintf(" %s |", strings.ReplaceAll(cells[i][j].String(), "|", `\|`))
				any = any || cells[i][j].runs > 0
			}
			if any {
				fmt.Fprintf(&b, "| %s | `%s` |%s\n", c.Text, c.Run.Line(), row)
			}
		}
		b.WriteString("\n")
	}
	if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "versions.md"), []byte(b.String()), 0o644); err != nil {
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
