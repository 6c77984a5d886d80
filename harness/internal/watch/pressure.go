package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// pressureDir is where the kernel counts for how long something that could run had to wait.
const pressureDir = "/proc/pressure"

const pressureTick = time.Second

// Pressure records the seconds in which something waited for the host half of the time or more. Tickers
// that come in time show that we had our turn, not that servers had theirs: how long these waited is recorded
// from the second such second in a row on. Where the kernel does not count it, nothing is recorded.
func Pressure(rec *history.Recorder, servers func() []int) func() error {
	look, ok := pressed(rec, pressureDir, servers)
	if !ok {
		return func() error { return nil }
	}
	return every(pressureTick, look)
}

// pressed compares what the kernel has counted with what it had at the last look.
func pressed(rec *history.Recorder, dir string, servers func() []int) (look func() error, ok bool) {
	last, ok := waited(dir)
	var delays map[int]time.Duration // of the servers' threads, at the last look that saw much
	before := rec.Clock().Now()
	return func() error {
		now := rec.Clock().Now()
		next, ok := waited(dir)
		if !ok {
			return nil
		}
		p := history.Pressure{Span: now - before, CPU: next.CPU - last.CPU, IO: next.IO - last.IO}
		last, before = next, now
		if max(p.CPU, p.IO) < p.Span/2 {
			delays = nil
			return nil
		}
		since := delays
		if delays = proc.Delays(servers()); since != nil && delays != nil {
			most := longest(since, delays).Nanoseconds()
			p.Servers = &most
		}
		return rec.Notice(history.Line{F: history.FPressure, Value: history.ValueOf(p)})
	}, ok
}

// longest is how long the thread waited that waited longest since then.
func longest(since, now map[int]time.Duration) (most time.Duration) {
	for tid, waited := range now {
		most = max(most, waited-since[tid])
	}
	return most
}

// waited is for how long something has waited since the host began; ok is false where nobody counts it.
func waited(dir string) (p history.Pressure, ok bool) {
	for name, total := range map[string]*int64{"cpu": &p.CPU, "io": &p.IO} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return p, false
		}
		line, _, _ := strings.Cut(string(b), "\n") // some ... total=MICROSECONDS
		_, text, found := strings.Cut(line, "total=")
		us, err := strconv.ParseInt(text, 10, 64)
		if !found || err != nil {
			return p, false
		}
		*total = us * int64(time.Microsecond)
	}
	return p, true
}
