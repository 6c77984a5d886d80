package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// UnmarshalJSON reads one line of the record. A line that lacks time, process, type
// or f is an error: it is not an event.
func (e *Event) UnmarshalJSON(line []byte) error {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("the line is not valid JSON: %w", err)
	}
	if w.Time == nil || len(w.Process) == 0 || w.F == "" {
		return errors.New("a field is missing: an event needs the fields time, process, type and f (the operation)")
	}
	switch w.Type {
	case Invoke, OK, Fail, Info:
	default:
		return fmt.Errorf("type %q is unknown: it must be invoke, ok, fail or info", w.Type)
	}
	*e = w.event()
	if err := e.Process.decode(w.Process); err != nil {
		return err
	}
	return e.Value.decode(w.F, w.Value)
}

func (p *Process) decode(raw json.RawMessage) error {
	if raw[0] != '"' {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return fmt.Errorf("process %s is neither a number nor a name", raw)
		}
		p.N = n
		return nil
	}
	if err := json.Unmarshal(raw, &p.Name); err != nil || p.Name == "" {
		return fmt.Errorf("process %s is neither a number nor a name", raw)
	}
	return nil
}

func (v *Value) decode(f string, raw json.RawMessage) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if f != FRead && f != FWrite {
		v.JSON = bytes.Clone(raw)
		return nil
	}
	var u struct {
		Base *int64 `json:"base"`
		New  *int64 `json:"new"`
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		return fmt.Errorf("the value of a %s must have the form {base, new}: %w", f, err)
	}
	v.Base, v.New = opt(u.Base), opt(u.New)
	return nil
}

func opt(p *int64) Opt {
	if p == nil {
		return Opt{}
	}
	return Some(*p)
}
