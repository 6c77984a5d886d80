package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
)

// whatRan is what was run.
func whatRan(r *checker.Results, rec *history.Record) [][2]string {
	out := [][2]string{
		{"backend", subject(r)},
		{"topology", r.Topology + " (" + r.Provider + ")"},
		{"nemesis", strings.Join(r.Nemesis, " + ")},
		{"workload", r.Workload},
		{"fencing", r.Fencing},
		{"discipline", r.Discipline},
		{"ttl", dur(r.TTL).String()},
		{"clients", fmt.Sprint(r.Clients)},
		{"locks", fmt.Sprint(len(rec.Run.Locks))},
		{"time", dur(rec.Run.Duration).String()},
		{"seed", fmt.Sprint(r.Seed)},
		{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"tolerance", dur(rec.Run.Tolerance).String()},
	}
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		out = append(out, [2]string{name, r.Versions[name]})
	}
	return out
}

// subject is the lock that was run: an adapter by what it says of itself.
func subject(r *checker.Results) string {
	name := r.Versions["adapter"]
	switch library := r.Versions["library"]; {
	case name == "":
		return r.Backend
	case library != "":
		return name + " (" + library + ")"
	}
	return name
}

// statRows are all figures by name.
func statRows(r *checker.Results) [][2]string {
	var out [][2]string
	for _, name := range slices.Sorted(maps.Keys(r.Stats)) {
		v := r.Stats[name]
		text := strconv.FormatInt(v, 10)
		if strings.HasSuffix(name, "_ns") {
			text = checker.Millis(v)
		}
		out = append(out, [2]string{name, text})
	}
	return out
}
