package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// wire is the JSON form of an event. Unknown fields are ignored, so that a newer
// writer can be read by an older reader.
type wire struct {
	Index    *int64          `json:"index"`
	Time     *int64          `json:"time"`
	Process  json.RawMessage `json:"process"`
	Type     Type            `json:"type"`
	F        string          `json:"f"`
	Value    json.RawMessage `json:"value"`
	Error    string          `json:"error"`
	Message  string          `json:"message"`
	Party    string          `json:"party"`
	Seq      *int64          `json:"seq"`
	Client   string          `json:"client"`
	Lock     string          `json:"lock"`
	Mode     string          `json:"mode"`
	Grant    string          `json:"grant"`
	Owner    string          `json:"owner"`
	Lease    string          `json:"lease"`
	Sent     *int64          `json:"sent"`
	TTL      *int64          `json:"ttl"`
	Deadline *int64          `json:"deadline"`
	Token    *int64          `json:"token"`
	Nodes    []string        `json:"nodes"`
	Register string          `json:"register"`
	Node     string          `json:"node"`
}

// UnmarshalJSON reads one line of the record. A line that lacks time, process, type
// or f is an error: it is not an event.
func (e *Event) UnmarshalJSON(line []byte) error {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if w.Time == nil || len(w.Process) == 0 || w.F == "" {
		return errors.New("an event needs time, process, type and f")
	}
	switch w.Type {
	case Invoke, OK, Fail, Info:
	default:
		return fmt.Errorf("type %q is none of invoke, ok, fail, info", w.Type)
	}
	*e = Event{
		Index: opt(w.Index).Or(-1), Time: *w.Time, Type: w.Type, F: w.F,
		Error: w.Error, Message: w.Message, Party: w.Party, Seq: opt(w.Seq).Or(-1),
		Client: w.Client, Lock: w.Lock, Mode: w.Mode, Grant: w.Grant, Owner: w.Owner,
		Lease: w.Lease, Sent: opt(w.Sent), TTL: opt(w.TTL), Deadline: opt(w.Deadline),
		Token: opt(w.Token), Nodes: w.Nodes, Register: w.Register, Node: w.Node,
	}
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
		return fmt.Errorf("value of a %s is not {base, new}: %w", f, err)
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
