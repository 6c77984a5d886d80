package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

var parseLines = []string{
	`{"index":7,"time":12,"process":1000001,"type":"ok","f":"acquire","party":"c1","seq":3,"client":"c1","lock":"L1","grant":"c1-1","owner":"c1-1-0af","lease":"c1-1-0af","sent":11,"ttl":1000000000,"deadline":1000000011,"token":4,"nodes":["a","b"]}`,
	`{"time":12,"process":"nemesis","type":"invoke","f":"fault","value":{"id":1,"fault":"client-pause","roles":{"c1":"a, \"b\" }"}},"party":"nemesis","seq":3}`,
	`{"time":1,"process":5,"type":"ok","f":"read","value":{"base":-3},"register":"plain","client":"c1","grant":"g"}`,
	`{"time":1,"process":5,"type":"ok","f":"write","value":{"base":0,"new":1}}`,
	`{"time":1,"process":5,"type":"info","f":"phase","value":"work"}`,
	`{"time":1,"process":5,"type":"info","f":"phase","value":null}`,
	`{"time":1,"process":5,"type":"fail","f":"release","error":"not-held","message":"tab\u0009 \"quoted\" ü"}`,
	// What only encoding/json knows, or refuses.
	`{"Time":1,"process":5,"type":"ok","f":"x"}`, `{"time":1,"time":2,"process":5,"type":"ok","f":"x"}`,
	`{"time":1.0,"process":5,"type":"ok","f":"x"}`,
	`{"time":1,"process":5,"type":"ok","f":"x"} `, ` {"time":1,"process":5,"type":"ok","f":"x"}`,
	`{"time":1,"process":5,"type":"ok","f":"x","more":[1]}`,
	`{"time":01,"process":5,"type":"ok","f":"x"}`, `{"time":-0,"process":5,"type":"ok","f":"x"}`,
	`{"time":9223372036854775807,"process":-9223372036854775808,"type":"ok","f":"x"}`,
	`{"time":9223372036854775808,"process":5,"type":"ok","f":"x"}`, `{"time":1,"process":"","type":"ok","f":"x"}`,
	`{"time":1,"process":5,"type":"OK","f":"x"}`,
	`{"time":1,"process":5,"type":"ok","f":""}`, `{"time":1,"process":5,"type":"ok"}`, `{"time":1,"type":"ok","f":"x"}`, `{}`, ``,
	`null`, `[]`, `{"time":1`,
	`{"time":1,"process":5,"type":"ok","f":"read","value":{"new":1,"base":2}}`,
	`{"time":1,"process":5,"type":"ok","f":"read","value":[1]}`,
	`{"time":1,"process":5,"type":"ok","value":{"base":1},"f":"read"}`, `{"time":1,"process":5,"type":"ok","f":"x","value":{]}}`,
	`{"time":1,"process":5,"type":"ok","f":"x","value":tru}`,
	`{"time":1,"process":5,"type":"ok","f":"x","nodes":[]}`, `{"time":1,"process":5,"type":"ok","f":"x","nodes":null,"sent":null}`,
	"{\"time\":1,\"process\":5,\"type\":\"ok\",\"f\":\"\x7f\xff\"}",
}

// agree holds the parser against encoding/json: what it takes, both read alike.
func agree(t *testing.T, line []byte) (taken bool) {
	t.Helper()
	var e Event
	taken = newParser().parse(line, &e)
	var slow Line
	err := slow.UnmarshalJSON(line)
	if taken && err != nil {
		t.Errorf("%s\nis taken, and is no event: %v", line, err)
	}
	if taken && err == nil && !reflect.DeepEqual(e.Line(), slow) {
		t.Errorf("%s\nis read as\n%+v\nand by encoding/json as\n%+v", line, e.Line(), slow)
	}
	return taken
}

func TestParserAgreesWithEncodingJSON(t *testing.T) {
	taken := 0
	for _, line := range parseLines {
		if agree(t, []byte(line)) {
			taken++
		}
	}
	if taken < 5 {
		t.Errorf("only %d lines were taken", taken)
	}
	for _, line := range parseLines[:7] { // every cut and every changed byte of some
		for i := range len(line) {
			agree(t, []byte(line[:i]))
			for _, c := range []byte("\"{}[]:,0-9e.\\x \x00\xff") {
				changed := []byte(line)
				changed[i] = c
				agree(t, changed)
			}
		}
	}
}

func FuzzParser(f *testing.F) {
	for _, line := range parseLines {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, line) })
}

// Whatever is written is taken without encoding/json, unless it has escapes.
func TestParserTakesWhatIsWritten(t *testing.T) {
	e := Line{
		Index: 3, Time: 99, Process: Process{N: 4}, Type: OK, F: FTryAcquire, Party: "c1", Seq: 8, Client: "c1", Lock: "L",
		Mode: ModeShared, Grant: "g",
		Owner: "o", Lease: "l", Sent: Some(1), TTL: Some(2), Deadline: Some(-3), Token: Some(4), Nodes: []string{"a"},
		Register: "plain", Node: "n",
		Error: ErrBusy, Message: "a message", Value: Value{JSON: json.RawMessage(`{"a":"ü \" }"}`)},
	}
	line := e.AppendJSON(nil, true)
	var got Event
	if !newParser().parse(line, &got) || !reflect.DeepEqual(got.Line(), e) {
		t.Errorf("%s\nis read as %+v", line, got.Line())
	}
}

// Decoding against encoding/json, in one run. The aim: six times its rate.
func BenchmarkDecode(b *testing.B) {
	var text bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&text,
			`{"index":%d,"time":%d,"process":1000001,"type":"ok","f":"acquire","party":"c1","seq":%d,"client":"c1","lock":"L1","grant":"c1-%d","owner":"c1-%d-0123456789abcdef","lease":"c1-%d-0123456789abcdef","sent":%d,"ttl":1000000000,"deadline":%d,"token":%d}`+"\n",
			i, i*1000, i, i, i, i, i*1000-500, i*1000+1e9, i)
	}
	lines := bytes.Split(bytes.TrimSpace(text.Bytes()), []byte("\n"))
	var slow, fast float64
	b.Run("encoding-json", func(b *testing.B) {
		var e Line
		for i := 0; b.Loop(); i++ {
			if err := e.UnmarshalJSON(lines[i%len(lines)]); err != nil {
				b.Fatal(err)
			}
		}
		slow = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	})
	b.Run("own", func(b *testing.B) {
		var p *parser
		for i := 0; b.Loop(); i++ {
			if i%len(lines) == 0 {
				p = newParser() // it keeps what it has read
			}
			var e Event
			if !p.parse(lines[i%len(lines)], &e) {
				b.Fatal("not taken")
			}
		}
		fast = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
		b.ReportMetric(slow/fast, "times")
	})
}
