// Package operations reads histories that other tools recorded, and writes ours as they do: a list of operations, each
// with its process, what it asked for (f and value), and how it ended: ok, fail (it did not happen) or info (nobody
// knows). Jepsen writes them as EDN; JSON with the same fields is read as well.
//
//	file -> split (one text for each event) -> event (fields and values) -> pair (invocations with their ends) -> History
package operations

import "math"

// The types of events.
const (
	Invoke = "invoke"
	OK     = "ok"
	Fail   = "fail"
	Info   = "info"
)

// Open is the place of the end of an operation of which nobody knows the outcome: it may take effect at any later
// time, or never.
const Open = math.MaxInt

// Item is one line of a history.
type Item struct {
	Line    int    // where it begins in its file, from 1
	Type    string // of the constants
	F       string
	Process string
	Key     string // of the object; "" where there is one object
	Value   any    // nil, bool, int64, float64, string, []any or map[string]any; keywords and symbols are strings
	Time    int64  // nanoseconds, where TimeSet
	TimeSet bool
	index   int64
	indexed bool
	client  string // that the value names, where named; else the field debug, as Jepsen's Hazelcast suite writes it
	named   bool
}

// Call is an operation of which nobody says that it failed.
type Call struct {
	F, Process, Key string
	Owner           string // the client that asks: see Anyone
	Anyone          bool   // no event says which client asks, although events of other processes do
	In, Out         any    // the value of its invocation, and of its end
	From, To        int    // places in the order of all events; To is Open where the outcome is unknown
	Invoke, Return  *Item
}

// Unknown reports whether nobody knows whether the operation took effect.
func (c *Call) Unknown() bool { return c.To == Open }

// History is what a file holds.
type History struct {
	Format  string // EDN or JSON
	Events  int    // of processes; 0 where there are only those of a nemesis
	Skipped int    // events of a nemesis
	Failed  int    // operations that did not happen
	Calls   []*Call
	Keys    []string // in order of first use
}

// Unknown counts the operations of unknown outcome.
func (h *History) Unknown() (n int) {
	for _, c := range h.Calls {
		if c.Unknown() {
			n++
		}
	}
	return n
}

// Processes counts who asked for anything.
func (h *History) Processes() int {
	seen := map[string]bool{}
	for _, c := range h.Calls {
		seen[c.Process] = true
	}
	return len(seen)
}
