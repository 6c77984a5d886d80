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

var rewrite = flag.Bool("rewrite", false, "write event_fields.go from the tags of Line")

const generated = "event_fields.go"

// required are the keys that an event must have.
var required = []string{"time", "process", "type", "f"}

// What codec and parser do with the fields of an event follows from their tags: see [Line].
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
		t.Errorf("%s is not what the tags of Line make of it: make docs", generated)
	}
}

// eventFields is the text of event_fields.go.
func eventFields() string {
	var enc, methods, pack, line strings.Builder
	var parse []string // what must hold, field by field
	kept := 0
	for i := range reflect.TypeFor[Line]().NumField() {
		f := reflect.TypeFor[Line]().Field(i)
		key, name := f.Tag.Get("json"), f.Name
		quoted := "`,\"" + key + "\":`"
		place, of := "e."+key, "e."+key // where the parser puts it, and where an event has it
		if in := f.Tag.Get("in"); in != "" {
			place, of = "p."+in+"."+key, "e.of"+strings.ToUpper(in[:1])+in[1:]+"()."+key
		}
		reader := name
		if key == "error" { // an event is no error
			reader = "Code"
		}
		method := func(result, body string) {
			fmt.Fprintf(&methods, "\n// %[1]s returns the field of its [Line].\nfunc (e *Event) %[1]s() %[2]s { return %[3]s }\n", reader,
				result, body)
		}
		var read, packed string
		switch f.Type.String() {
		case "int64":
			read = "p.number64(&e." + name + ")"
			switch key {
			case "index":
				fmt.Fprintf(&enc, "if withIndex {\nb = append(appendInt(b, `\"index\":`, l.Index), ',')\n}\n")
			case "time":
				fmt.Fprintf(&enc, "b = appendInt(b, `\"time\":`, l.Time)\n")
			default:
				fmt.Fprintf(&enc, "b = appendInt(b, %s, l.%s)\n", quoted, name)
			}
			fmt.Fprintf(&line, "%s: e.%s,\n", name, name)
			fmt.Fprintf(&pack, "e.%s = l.%s\n", name, name)
			packed = "-"
		case "history.Process":
			fmt.Fprintf(&enc, "b = l.%s.appendJSON(append(b, %s...))\n", name, quoted)
			read, packed = "p.process(e)", "p.packProcess(&e, l.Process)"
		case "history.Value":
			fmt.Fprintf(&enc, "b = l.%s.appendJSON(b)\n", name)
			read, packed = "p.value(e)", "p.packValue(&e, l.Value)"
		case "history.Type":
			fmt.Fprintf(&enc, "b = appendString(b, %s, string(l.%s))\n", quoted, name)
			read, packed = "p.kindOf(&e.kind)", "p.packType(&e, l.Type)"
		case "history.Opt":
			fmt.Fprintf(&enc, "b = appendOpt(b, %s, l.%s)\n", quoted, name)
			read, packed = "p.opt(&"+place+")", place+" = l."+name
			if key == "token" { // many events have one
				read, packed = "p.token(e)", "p.packToken(&e, l.Token)"
			} else {
				method("Opt", of)
			}
		case "[]string":
			fmt.Fprintf(&enc, "b = appendList(b, %s, l.%s)\n", quoted, name)
			read, packed = "p.names(&"+place+")", place+" = p.list(l."+name+")"
			method("[]string", "e.list("+of+")")
		default:
			fmt.Fprintf(&enc, "b = appendString(b, %s, l.%s)\n", quoted, name)
			packed = place + " = p.of(l." + name + ")"
			if key == "f" {
				read, packed = "p.function(e)", "p.packF(&e, l.F)"
				break
			}
			method("string", "e.text("+of+")")
			if f.Tag.Get("keep") == "own" {
				read, packed = "p.own(&"+place+")", place+" = p.add(l."+name+")"
			} else {
				read = fmt.Sprintf("p.keep(%d, &%s)", kept, place)
				kept++
			}
		}
		if packed != "-" {
			fmt.Fprintf(&line, "%s: e.%s(),\n", name, reader)
			fmt.Fprintf(&pack, "%s\n", packed)
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
	return fmt.Sprintf(`// Code generated from the tags of Line by make docs. DO NOT EDIT.

package history

// keptFields is how many fields are strings that come again.
const keptFields = %d

// appendFields appends the fields in JSON, without the braces.
func (l *Line) appendFields(b []byte, withIndex bool) []byte {
%sreturn b
}

// fields decodes what appendFields writes: in its order, and nothing else.
//
//nolint:gocyclo // a table
func (p *parser) fields(e *Event) bool {
return %s
}

// pack makes an event of a line.
func (p *packer) pack(l *Line) (e Event) {
p.begin()
%sp.seal(&e)
return e
}

// Line returns the line of the event.
func (e *Event) Line() Line {
return Line{
%s}
}
%s`, kept, &enc, strings.Join(parse, " &&\n"), &pack, &line, &methods)
}
