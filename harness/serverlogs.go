package harness

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/lockstorm/lockstorm/reports"
)

const (
	maxServerLog  = 8 << 20 // bytes of a server's log that are looked at
	maxServerLine = 400     // bytes of a line that are shown
)

// clockTime is the time of day with which each server begins a line, in some form: 05:04:59.031, 05:04:59,031. Behind
// it a Z or UTC says that it is not local time.
var clockTime = regexp.MustCompile(`(?:\b|T)(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?( ?Z\b| ?UTC\b)?`)

// serverLogs are the lines that the servers of a run wrote, with the moment of the run at which they did so. A line
// without a time belongs to the one before. What cannot be read is left out: a page does not depend on it.
func serverLogs(dir string, started time.Time) (out []reports.LogLine) {
	files, err := filepath.Glob(filepath.Join(dir, nodesDir, "*", "server.log"))
	if err != nil || started.IsZero() {
		return nil
	}
	for _, path := range files {
		server := filepath.Base(filepath.Dir(path))
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxServerLog {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		out = append(out, linesOf(server, b, started)...)
	}
	return out
}

func linesOf(server string, log []byte, started time.Time) (out []reports.LogLine) {
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, maxServerLog)
	for lines.Scan() {
		line := lines.Text()
		at, ok := timeOf(line, started)
		if !ok {
			continue
		}
		if len(line) > maxServerLine {
			line = line[:maxServerLine] + " ..."
		}
		out = append(out, reports.LogLine{At: at, Server: server, Text: line})
	}
	return out
}

// timeOf is the moment of the run that a line's time of day means: the one that is nearest to its start.
func timeOf(line string, started time.Time) (int64, bool) {
	head := line[:min(len(line), 80)]
	m := clockTime.FindStringSubmatch(head)
	if m == nil {
		return 0, false
	}
	where := time.Local
	if m[5] != "" {
		where = time.UTC
	}
	begun := started.In(where)
	of, err := time.ParseInLocation("15:04:05.999999", m[1]+":"+m[2]+":"+m[3]+"."+(m[4] + "0")[:max(len(m[4]), 1)], where)
	if err != nil {
		return 0, false
	}
	at := time.Date(begun.Year(), begun.Month(), begun.Day(), of.Hour(), of.Minute(), of.Second(), of.Nanosecond(), where).Sub(begun)
	const day = 24 * time.Hour
	switch {
	case at > day/2:
		at -= day
	case at < -day/2:
		at += day
	}
	return at.Nanoseconds(), true
}
