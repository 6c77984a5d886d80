//go:build series

package e2e

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/docs/measured"
	"github.com/lockstorm/lockstorm/internal/docs/tables"
	"github.com/lockstorm/lockstorm/internal/tests/setting"
)

// TestSeriesTrackRecord runs every published failure with TRACK_SEEDS seeds (20), the others likewise what is published with
// servers in containers, or said of locks in databases and in sessions. Each writes its page anew.
func TestSeriesTrackRecord(t *testing.T) { writeSeries(t, tables.TrackRecord(), "TRACK_SEEDS", 20) }

func TestSeriesContainersTrack(t *testing.T) {
	writeSeries(t, tables.Containers(), "CONTAINER_SEEDS", 5)
}

func TestSeriesDatabases(t *testing.T) { writeSeries(t, tables.Databases(), "DATABASE_SEEDS", 20) }

func TestSeriesEnsembles(t *testing.T) { writeSeries(t, tables.Ensembles(), "ENSEMBLE_SEEDS", 20) }

func TestSeriesPower(t *testing.T) { writeSeries(t, tables.Power(), "POWER_SEEDS", 10) }

// docs is the folder of the pages.
var docs = filepath.Join("..", "..", "..", "docs")

// writeSeries runs every case with as many seeds as a setting says. Where -run chooses single cases, the others keep their
// figures.
func writeSeries(t *testing.T, s tables.Series, seeds string, least int) {
	n := setting.Number(t, seeds, least)
	all, got := series(t, n, s.Cases), map[string]measured.Row{}
	for i, c := range s.Cases {
		one := &all[i]
		if one.runs == 0 {
			continue
		}
		r := measured.Row{"as_expected_runs": strconv.Itoa(one.asIt), "runs": strconv.Itoa(one.runs), "measured_on": today()}
		spread(r, "recovery", one.recovery)
		spread(r, "first_violation", one.first)
		got[c.Name] = r
	}
	table, _, err := s.Table(docs, got)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == len(s.Cases) {
		table.About["seeds"], table.About["date"] = fmt.Sprintf("1 to %d", n), today()
	}
	table.About["machine"] = cpus()
	if err := tables.Write(docs, s.Page, table); err != nil {
		t.Fatal(err)
	}
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// spread puts the median and the range of times into the columns of a figure.
func spread(r measured.Row, figure string, ns []int64) {
	if len(ns) == 0 {
		return
	}
	slices.SortFunc(ns, cmp.Compare)
	for column, v := range map[string]int64{"median": ns[len(ns)/2], "min": ns[0], "max": ns[len(ns)-1]} {
		r[figure+"_"+column+"_s"] = fmt.Sprintf("%.1f", time.Duration(v).Seconds())
	}
}
