package history

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write event_fields.go from the tags of Event")

const generated = "event_fields.go"

// required are the keys that an event must have; the parser has a bit for each, in this order.
var required = []string{"time", "process", "type", "f"}

// What codec and parser do with the fields of an event follows from their tags: see [Event].
func TestGeneratedIsNotStale(t *testing.T) {
	want, err := format.Source([]byte(eventFields()))
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(generated, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the tags of Event make of it: make docs", generated)
	}
}

// eventFields is the text of event_fields.go.
func eventFields() string {
	var enc, parse strings.Builder
	bits := map[string]int{}
	for i, key := range required {
		bits[key] = i
	}
	again := 0
	for i := range reflect.TypeFor[Event]().NumField() {
		f := reflect.TypeFor[Event]().Field(i)
		key, name := f.Tag.Get("json"), f.Name
		if _, known := bits[key]; !known {
			bits[key] = 4 + len(bits) - len(required)
		}
		quoted := "`,\"" + key + "\":`"
		read := "p.number(&e." + name + ")"
		switch f.Type.String() {
		case "int64":
			switch key {
			case "index":
				fmt.Fprintf(&enc, "if withIndex {\nb = append(appendInt(b, `\"index\":`, e.Index), ',')\n}\n")
			case "time":
				fmt.Fprintf(&enc, "b = appendInt(b, `\"time\":`, e.Time)\n")
			default:
				fmt.Fprintf(&enc, "b = appendInt(b, %s, e.%s)\n", quoted, name)
			}
		case "history.Process":
			fmt.Fprintf(&enc, "b = e.%s.appendJSON(append(b, %s...))\n", name, quoted)
			read = "p.process(&e." + name + ")"
		case "history.Value":
			fmt.Fprintf(&enc, "b = e.%s.appendJSON(b)\n", name)
			read = "p.seen&bitF != 0 && p.value(e)"
		case "history.Type":
			fmt.Fprintf(&enc, "b = appendString(b, %s, string(e.%s))\n", quoted, name)
			read = "p.kind(&e." + name + ")"
		case "history.Opt":
			fmt.Fprintf(&enc, "b = appendOpt(b, %s, e.%s)\n", quoted, name)
			read = "p.opt(&e." + name + ")"
		case "[]string":
			fmt.Fprintf(&enc, "b = appendList(b, %s, e.%s)\n", quoted, name)
			read = "p.list(&e." + name + ")"
		default:
			fmt.Fprintf(&enc, "b = appendString(b, %s, e.%s)\n", quoted, name)
			read = "p.keep(&e." + name + ")"
			switch keep := f.Tag.Get("keep"); {
			case key == "f":
				read = "p.function(&e.F)"
			case keep == "own":
				read = "p.own(&e." + name + ")"
			case keep == "again":
				read = fmt.Sprintf("p.again(%d, &e.%s)", again, name)
				again++
			}
		}
		fmt.Fprintf(&parse, "case %q:\nreturn p.once(%d) && %s\n", key, bits[key], read)
	}
	return fmt.Sprintf(`// Code generated from the tags of Event by make docs. DO NOT EDIT.

package history

// again is how many fields are mostly as in the event before.
const againFields = %d

// appendFields appends the fields of an event in JSON, without the braces.
func (e *Event) appendFields(b []byte, withIndex bool) []byte {
%sreturn b
}

// field decodes the value of a key.
//
//nolint:gocyclo // a table
func (p *parser) field(key []byte, e *Event) bool {
switch string(key) {
%s}
return false
}
`, again, &enc, &parse)
}
