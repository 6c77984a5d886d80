package history

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func anyOpt(t *rapid.T, name string) Opt {
	if !rapid.Bool().Draw(t, name+" set") {
		return Opt{}
	}
	return Some(rapid.Int64().Draw(t, name))
}

func anyEvent(t *rapid.T) Line {
	s := func(name string) string { return rapid.String().Draw(t, name) }
	e := Line{
		Index: rapid.Int64().Draw(t, "index"), Time: rapid.Int64().Draw(t, "time"),
		Type:  rapid.SampledFrom([]Type{Invoke, OK, Fail, Info}).Draw(t, "type"),
		F:     rapid.SampledFrom([]string{FAcquire, FRead, FWrite, FLost, FFault}).Draw(t, "f"),
		Error: s("error"), Message: s("message"), Party: s("party"), Seq: rapid.Int64().Draw(t, "seq"),
		Client: s("client"), Lock: s("lock"), Mode: s("mode"), Grant: s("grant"), Owner: s("owner"), Lease: s("lease"),
		Sent: anyOpt(t, "sent"), TTL: anyOpt(t, "ttl"), Deadline: anyOpt(t, "deadline"), Token: anyOpt(t, "token"),
		Nodes: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "nodes"), Register: s("register"), Node: s("node"),
	}
	if len(e.Nodes) == 0 {
		e.Nodes = nil
	}
	if rapid.Bool().Draw(t, "named") {
		e.Process.Name = rapid.StringN(1, 10, -1).Draw(t, "process name")
	} else {
		e.Process.N = rapid.Int64().Draw(t, "process")
	}
	switch {
	case e.F == FRead || e.F == FWrite:
		e.Value.Base = anyOpt(t, "base")
		if e.Value.Base.Set {
			e.Value.New = anyOpt(t, "new")
		}
	case rapid.Bool().Draw(t, "json"):
		e.Value = ValueOf(s("value"))
	}
	return e
}

// What is written by hand is valid JSON, on one line, and reads back as the same event.
func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyEvent(t)
		line := want.AppendJSON(nil, true)
		if !json.Valid(line) || bytes.ContainsRune(line, '\n') {
			t.Fatalf("not one line of JSON: %s", line)
		}
		var got Line
		if err := got.UnmarshalJSON(line); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if again := got.AppendJSON(nil, true); !bytes.Equal(line, again) {
			t.Fatalf("wrote\n%s\nread back and wrote\n%s", line, again)
		}
	})
}

// encoding/json writes an event as the record does, and reads it back.
func TestEventMarshal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyEvent(t)
		if want.Index < 0 {
			want.Index = -1 // an event of a party's log has none
		}
		raw, err := json.Marshal([]Line{want})
		if err != nil {
			t.Fatal(err)
		}
		var got []Line
		if err := json.Unmarshal(raw, &got); err != nil || len(got) != 1 {
			t.Fatalf("%v in %s", err, raw)
		}
		if a, b := got[0].AppendJSON(nil, true), want.AppendJSON(nil, true); !bytes.Equal(a, b) {
			t.Fatalf("read back\n%s\nwant\n%s", a, b)
		}
	})
}

// Tokens are 64-bit integers and never pass through a float.
func TestTokenKeepsAllBits(t *testing.T) {
	const token = 1<<53 + 1
	e := Line{Type: OK, F: FAcquire, Token: Some(token)}
	var got Line
	if err := got.UnmarshalJSON(e.AppendJSON(nil, false)); err != nil || got.Token.V != token {
		t.Fatalf("token %d came back as %d (%v)", token, got.Token.V, err)
	}
}

func FuzzUnmarshalEvent(f *testing.F) {
	f.Add([]byte(`{"time":1,"process":1,"type":"ok","f":"read","value":{"base":1}}`))
	f.Add([]byte(`{"time":1,"process":"c1","type":"info","f":"run","value":{"schema":1}}`))
	f.Add([]byte(`{"process":[]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var e Line
		if e.UnmarshalJSON(line) != nil {
			return
		}
		var again Line
		if err := again.UnmarshalJSON(e.AppendJSON(nil, true)); err != nil {
			t.Fatalf("an event that was read cannot be read back: %v", err)
		}
	})
}
