package operations

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// One history in the forms that it comes in.
func TestRead(t *testing.T) {
	lines := `{:type :invoke, :f :acquire, :value nil, :process 0, :time 1, :index 0}
{:type :info, :f :start-partition, :value "[:n1 :n2] {", :process :nemesis, :time 2, :index 1}
{:type :ok, :f :acquire, :value {:client "c 1", :fence 7}, :process 0, :time 3, :index 2} ; a comment {
{:type :invoke, :f :release, :value nil, :process 0, :time 4, :index 3}
{:type :info, :f :release, :value nil, :process 0, :time 5, :index 4, :error [:timeout \{]}
{:type :invoke, :f :acquire, :value nil, :process 1, :time 6, :index 5}
{:type :fail, :f :acquire, :value nil, :process 1, :time 7, :index 6}
{:type :invoke, :f :acquire, :value nil, :process 2, :time 8, :index 7}
`
	asJSON := `{"type":"invoke","f":"acquire","value":null,"process":0,"time":1,"index":0}
{"type":"info","f":"start","value":"\"{","process":"nemesis","time":2,"index":1}
{"type":"ok","f":"acquire","value":{"client":"c 1","fence":7},"process":0,"time":3,"index":2}
{"type":"invoke","f":"release","process":0,"time":4,"index":3}
{"type":"info","f":"release","process":0,"time":5,"index":4}
{"type":"invoke","f":"acquire","process":1,"time":6,"index":5}
{"type":"fail","f":"acquire","process":1,"time":7,"index":6}
{"type":"invoke","f":"acquire","process":2,"time":8,"index":7}
`
	list := func(text, begin, end string) string {
		return begin + strings.TrimSpace(strings.ReplaceAll(text, "; a comment {", "")) + end
	}
	reversed := strings.Split(strings.TrimSpace(asJSON), "\n")
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	for name, c := range map[string]struct{ text, format string }{
		"EDN lines":          {lines, "EDN"},
		"EDN vector":         {list(lines, "[", "]\n"), "EDN"},
		"EDN list, records":  {"(" + strings.ReplaceAll(lines, "{:type", "#jepsen.history.Op {:type") + ")", "EDN"},
		"JSON lines":         {asJSON, "JSON"},
		"JSON array":         {"\n[" + strings.ReplaceAll(strings.TrimSpace(asJSON), "}\n{", "},\n{") + "]", "JSON"},
		"JSON, out of order": {strings.Join(reversed, "\n"), "JSON"},
	} {
		h, err := Read(strings.NewReader(c.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if h.Format != c.format || h.Events != 7 || h.Skipped != 1 || h.Failed != 1 || h.Unknown() != 2 || h.Processes() != 2 ||
			len(h.Calls) != 3 {
			t.Errorf("%s: %+v, %d unknown", name, h, h.Unknown())
			continue
		}
		got := []any{}
		for _, c := range h.Calls {
			got = append(got, c.F, c.Process, c.From, c.To, c.Out)
		}
		want := []any{
			"acquire", "0", 0, 1,
			map[string]any{"client": "c 1", "fence": int64(7)},
			"release", "0", 2, Open, nil, "acquire",
			"2", 6, Open, nil,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Keys of jepsen.independent.
func TestReadKeyed(t *testing.T) {
	text := `{:type :invoke, :f :write, :value [a 1], :process 0}
{:type :ok, :f :write, :value [a 1], :process 0}
{:type :invoke, :f :read, :value [b nil], :process 0}
{:type :ok, :f :read, :value [b 2], :process 0}`
	h, err := Read(strings.NewReader(text), Options{Keyed: true})
	if err != nil || !reflect.DeepEqual(h.Keys, []string{"a", "b"}) || h.Calls[1].Out != int64(2) {
		t.Errorf("%+v, %v", h, err)
	}
}

// What is no history is refused, with the line and what would be right there.
func TestReadRefuses(t *testing.T) {
	invoke := `{"type":"invoke","f":"acquire","process":0}` + "\n"
	for text, want := range map[string]string{
		"":                                  "the file contains no operation",
		"[]":                                "the file contains no operation",
		"hello":                             "line 1: an operation must begin with {",
		invoke + "x":                        "line 2: an operation must begin with {",
		"[" + invoke:                        "line 2: the file is incomplete: it ends inside its list of operations",
		"[" + invoke + "]\n{":               `line 3: the file must end after its list of operations, but '{' follows`,
		invoke + `{"type":"ok","f":"acqui`:  "line 2: the file is incomplete: it ends inside the operation that begins on this line",
		invoke + invoke:                     "line 2: process 0 begins acquire, although its acquire of line 1 has not ended",
		`{"type":"ok","f":"a","process":1}`: "line 1: process 1 ends a (ok), but has not begun this operation",
		invoke + `{"type":"ok","f":"release","process":0}`: "line 2: process 0 ends release, but the operation that it began on line " +
			"1 is acquire",
		`{"a":1}`: `line 1: the field "`,
		`{"type":"done","f":"a","process":1}`: "line 1: the field `type` has the value done, but it must be invoke, ok, " +
			"fail or info",
		`{"type":"ok","f":3,"process":1}`:              "line 1: the field f is 3: it must be the name of an operation",
		`{"type":"ok","f":"a","process":[]}`:           "line 1: the field process is []: it must be a number or a name",
		`{"type":"ok","f":"a","process":1,"time":"x"}`: "line 1: the field time is x: it must be a whole number",
		`{:type :ok :f}`:                               "line 1: an operation must be a map in EDN",
		`{"type":}`:                                    "line 1: an operation must be a JSON object",
		`{"type":"invoke","f":"a","process":1,"index":1}` + "\n" +
			`{"type":"ok","f":"a","process":1,"index":1}`: "line 2: the index 1 is already used on line 1",
		`#_ {:type :ok}`: "line 1: the tag after # must be the name of a record, as in #jepsen.history.Op{...}",
		`{"type":"` + strings.Repeat("x", maxEvent): "line 1: the operation that begins on this line is longer than",
	} {
		h, err := Read(strings.NewReader(text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %q", text, h, err, want)
		}
	}
	if _, err := Read(strings.NewReader(`{"type":"invoke","f":"a","process":1,"value":3}`), Options{Keyed: true}); err == nil ||
		!strings.Contains(err.Error(), "[key value]") {
		t.Error(err)
	}
}

// endless is a gigabyte of one byte.
type endless struct {
	left int
	of   byte
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = e.of
	}
	e.left -= n
	return n, nil
}

// A gigabyte that is no history costs neither time nor memory; blanks alone are read to their end.
func TestReadRefusesHugeFiles(t *testing.T) {
	for _, of := range []byte{0, 'x', '{', '[', '"', '#'} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, err := Read(&endless{left: 1 << 30, of: of}, Options{})
		runtime.ReadMemStats(&after)
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", of, err)
		}
		if took, used := time.Since(began), after.TotalAlloc-before.TotalAlloc; used > 100<<20 {
			t.Errorf("%q: %d bytes in %s", of, used, took)
		}
	}
}
