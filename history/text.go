package history

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseText reads the readable text form of a history, in which fixtures are written:
//
//	run ends=lease ttl=1s discipline=obey registers=plain,fenced
//	0ms    1 c1 invoke acquire lock=L grant=g1
//	2ms    1 c1 ok     acquire lock=L grant=g1 sent=1ms ttl=1s deadline=1001ms
//	5ms    - nemesis invoke fault {"id":1,"fault":"client-pause","clients":["c1"]}
//
// A line "run party=c1 ..." begins the log of a party other than the controller. Any other line is: time, process (a
// number, or - for the party itself), party, type, f, then fields, then at most one JSON value in braces or quotes.
// base= and new= give the value of a read or a write. The party of a numbered process is also its client. Sequence
// numbers, indexes and, after a line "end", all f:end events are filled in; events keep the order of the lines. Blank
// lines and lines that begin with # are skipped.
func ParseText(r io.Reader) (*History, error) {
	p := textParser{hist: &History{Sources: []string{"text"}}, seq: map[string]int64{}}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	p.hist.Events = Events(p.lines...)
	return p.hist, sc.Err()
}

type textParser struct {
	hist  *History
	lines []Line
	seq   map[string]int64
	last  int64
}

func (p *textParser) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "run":
		return p.run(strings.Fields(rest))
	case "end":
		p.end()
		return nil
	}
	text, value := splitValue(line)
	w := strings.Fields(text)
	if len(w) < 5 {
		return fmt.Errorf("%q is not a valid line: it needs five fields: time, process, party, type and f (the operation)", line)
	}
	at, err := time.ParseDuration(w[0])
	if err != nil {
		return err
	}
	e := Line{Time: at.Nanoseconds(), Type: Type(w[3]), F: w[4], Process: Process{Name: w[2]}}
	if w[1] != "-" {
		n, err := strconv.ParseInt(w[1], 10, 64)
		if err != nil {
			return fmt.Errorf("process %q: %w", w[1], err)
		}
		e.Process, e.Client = Process{N: n}, w[2]
	} else {
		e.Client = ClientOf(w[2])
	}
	e.Value.JSON = value
	for _, f := range w[5:] {
		if err := e.setField(f); err != nil {
			return err
		}
	}
	p.append(e, w[2])
	return nil
}

func (p *textParser) append(e Line, party string) {
	e.Party, e.Seq, e.Index = party, p.seq[party], int64(len(p.lines))
	p.seq[party]++
	p.last = max(p.last, e.Time)
	p.lines = append(p.lines, e)
}

// end closes every log and then the history, as the controller does.
func (p *textParser) end() {
	parties := map[string]int64{}
	for name := range p.seq {
		if name != PartyController {
			parties[name] = p.seq[name] + 1
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parties)) {
		p.append(Line{
			Time: p.last, Process: Process{Name: name}, Type: Info, F: FEnd, Client: ClientOf(name),
			Value: ValueOf(End{Events: parties[name]}),
		}, name)
	}
	p.append(Line{
		Time: p.last, Process: Process{Name: PartyController}, Type: Info, F: FEnd,
		Value: ValueOf(End{Events: p.seq[PartyController] + 1, Parties: parties}),
	}, PartyController)
}

func splitValue(line string) (text string, value []byte) {
	if i := strings.IndexAny(line, `{"`); i >= 0 {
		return line[:i], []byte(line[i:])
	}
	return line, nil
}

func (e *Line) setField(field string) error {
	key, val, ok := strings.Cut(field, "=")
	if !ok {
		return fmt.Errorf("the field %q must have the form key=value", field)
	}
	switch key {
	case "base":
		return setText(&e.Value.Base, val, "")
	case "new":
		return setText(&e.Value.New, val, "")
	}
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		if tag := v.Type().Field(i).Tag; tag.Get("json") == key && tag.Get("text") != "" {
			return setText(v.Field(i).Addr().Interface(), val, "+")
		}
	}
	return fmt.Errorf("unknown field %q", key)
}

// setText puts a text into its place. A number with a unit is a time; the entries of a list have a separator between them.
func setText(place any, text, separator string) (err error) {
	switch v := place.(type) {
	case *string:
		*v = text
	case *[]string:
		*v = strings.Split(text, separator)
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int64:
		var d time.Duration
		d, err = time.ParseDuration(text)
		*v = d.Nanoseconds()
	case *Opt:
		v.Set = true
		if v.V, err = strconv.ParseInt(text, 10, 64); err != nil {
			err = setText(&v.V, text, "")
		}
	}
	return err
}

func (p *textParser) run(fields []string) error {
	run := Run{
		Schema: Schema, Backend: "fixture", Ends: EndsNever, Discipline: Obey, Fencing: FencingBoth,
		Workload: "counter", Resource: true, TTL: int64(time.Second), Tolerance: int64(5 * time.Millisecond),
		StallLimit: int64(100 * time.Millisecond), LivenessBound: int64(3 * time.Second), Registers: map[string]int64{},
	}
	party := PartyController
	for _, f := range fields {
		key, val, _ := strings.Cut(f, "=")
		if key == "party" {
			party = val
			continue
		}
		if err := run.set(key, val); err != nil {
			return fmt.Errorf("run: %s: %w", f, err)
		}
	}
	p.append(Line{Process: Process{Name: party}, Type: Info, F: FRun, Client: ClientOf(party), Value: ValueOf(run)}, party)
	return nil
}

func (r *Run) set(key, val string) error {
	places := map[string]any{
		"ttl": &r.TTL, "tolerance": &r.Tolerance, "bound": &r.LivenessBound, "recovery": &r.Recovery, "stall": &r.StallLimit,
		"backend": &r.Backend, "ends": &r.Ends, "discipline": &r.Discipline, "fencing": &r.Fencing, "workload": &r.Workload,
		"model": &r.Model.Kind, "fail-on": &r.FailOn,
		"tokens": &r.Tokens, "client-faults": &r.ClientFaults, "resource": &r.Resource,
		"session": &r.Model.Session, "no-deadlines": &r.NoDeadlines, "no-clock": &r.NoClock, "renews": &r.Renews,
		"own-fence": &r.OwnFence, "fair": &r.Fair,
		"locks": &r.Locks, "signals": &r.Signals, "require": &r.Required,
	}
	switch {
	case places[key] != nil:
		return setText(places[key], val, ",")
	case key == "bounds":
		name, length, _ := strings.Cut(val, ":")
		d, err := time.ParseDuration(length)
		r.Bounds = map[string]int64{name: d.Nanoseconds()}
		return err
	case key == "skipped":
		r.Nemesis = append(r.Nemesis, val)
		r.RequestedFaults = append(r.RequestedFaults, RequestedFault{Spec: val, Family: FamilyClock, Skipped: "it cannot work here"})
	case key == "registers":
		for reg := range strings.SplitSeq(val, ",") {
			r.Registers[reg] = 0
		}
	case key == "nemesis":
		r.Nemesis = append(r.Nemesis, val)
		family := FamilyClient
		for prefix, f := range map[string]string{
			"server": FamilyServer, "power": FamilyServer, "failover": FamilyServer,
			"partition": FamilyLink, "packet": FamilyLink, "lost": FamilyLink,
			"clock":   FamilyClock,
			"isolate": FamilyLink, "flap": FamilyLink, "slow": FamilyServer, "evict": FamilyStore, "flush": FamilyStore,
			"delete": FamilyStore,
		} {
			if strings.HasPrefix(val, prefix) {
				family = f
			}
		}
		r.RequestedFaults = append(r.RequestedFaults, RequestedFault{Spec: val, Family: family})
	default:
		return fmt.Errorf("unknown field")
	}
	return nil
}
