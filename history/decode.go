package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// UnmarshalJSON reads one line of the record. A line that lacks time, process, type
// or f is an error: it is not an event. Unknown fields are ignored, so that a newer
// writer can be read by an older reader.
func (l *Line) UnmarshalJSON(line []byte) error {
	type plain Line       // without this method
	const nobody = "\xff" // no text of JSON
	w := struct {
		plain
		Time *int64 `json:"time"`
	}{plain: plain{Index: -1, Seq: -1, Process: Process{Name: nobody}}}
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("the line is not valid JSON: %w", err)
	}
	if w.Time == nil || w.Process.Name == nobody || w.F == "" {
		return errors.New("a field is missing: an event needs the fields time, process, type and f (the operation)")
	}
	switch w.Type {
	case Invoke, OK, Fail, Info:
	default:
		return fmt.Errorf("type %q is unknown: it must be invoke, ok, fail or info", w.Type)
	}
	*l = Line(w.plain)
	l.Time = *w.Time
	raw := l.Value.JSON
	if len(raw) == 0 || l.F != FRead && l.F != FWrite {
		return nil
	}
	l.Value = Value{}
	var u struct{ Base, New Opt }
	if err := json.Unmarshal(raw, &u); err != nil {
		return fmt.Errorf("the value of a %s must have the form {base, new}: %w", l.F, err)
	}
	l.Value.Base, l.Value.New = u.Base, u.New
	return nil
}

// UnmarshalJSON reads the number or the name.
func (p *Process) UnmarshalJSON(raw []byte) (err error) {
	*p = Process{}
	if raw[0] != '"' {
		p.N, err = strconv.ParseInt(string(raw), 10, 64)
	} else {
		err = json.Unmarshal(raw, &p.Name)
	}
	if err != nil || raw[0] == '"' && p.Name == "" {
		return fmt.Errorf("process %s is neither a number nor a name", raw)
	}
	return nil
}

// UnmarshalJSON keeps the raw JSON: only the event knows what it means.
func (v *Value) UnmarshalJSON(raw []byte) error {
	if v.JSON = nil; !bytes.Equal(raw, []byte("null")) {
		v.JSON = bytes.Clone(raw)
	}
	return nil
}

// UnmarshalJSON reads an integer, or null for none.
func (o *Opt) UnmarshalJSON(raw []byte) error {
	o.Set = !bytes.Equal(raw, []byte("null"))
	return json.Unmarshal(raw, &o.V)
}
