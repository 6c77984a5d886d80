package history

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write event_fields.go from the tags of Event")

const generated = "event_fields.go"

// required are the keys that an event must have.
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
	var enc strings.Builder
	var parse []string // what must hold, field by field
	kept := 0
	for i := range reflect.TypeFor[Event]().NumField() {
		f := reflect.TypeFor[Event]().Field(i)
		key, name := f.Tag.Get("json"), f.Name
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
			read = "p.value(e)"
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
			switch {
			case key == "f":
				read = "p.function(&e.F)"
			case f.Tag.Get("keep") == "own":
				read = "p.own(&e." + name + ")"
			default:
				read = fmt.Sprintf("p.keep(%d, &e.%s)", kept, name)
				kept++
			}
		}
		switch {
		case key == "index":
			parse = append(parse, fmt.Sprintf("(!p.word(`\"index\":`) || (%s && p.byte(',')))", read))
		case key == "time":
			parse = append(parse, "p.word(`\"time\":`) && "+read)
		case slices.Contains(required, key):
			parse = append(parse, fmt.Sprintf("p.word(%s) && %s", quoted, read))
		default:
			parse = append(parse, fmt.Sprintf("(!p.word(%s) || %s)", quoted, read))
		}
	}
	return fmt.Sprintf(`// Code generated from the tags of Event by make docs. DO NOT EDIT.

package history

// keptFields is how many fields are strings that come again.
const keptFields = %d

// appendFields appends the fields of an event in JSON, without the braces.
func (e *Event) appendFields(b []byte, withIndex bool) []byte {
%sreturn b
}

// fields decodes what appendFields writes: in its order, and nothing else.
//
//nolint:gocyclo // a table
func (p *parser) fields(e *Event) bool {
return %s
}
`, kept, &enc, strings.Join(parse, " &&\n"))
}
