package operations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"olympos.io/encoding/edn"
)

// fields are those of the map of an event, by name.
func fields(p part, isJSON bool) (map[string]any, error) {
	if isJSON {
		d := json.NewDecoder(bytes.NewReader(p.text))
		d.UseNumber()
		var m map[string]any
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("line %d: an operation must be a JSON object: %w", p.line, err)
		}
		return plainMap(m), nil
	}
	if tooLarge(p.text) {
		return nil, fmt.Errorf("line %d: the operation contains a number with too many digits in its exponent (limit: four)", p.line)
	}
	var m map[any]any
	if err := edn.Unmarshal(p.text, &m); err != nil {
		return nil, fmt.Errorf("line %d: an operation must be a map in EDN (the format of Jepsen's history.edn): %w", p.line, err)
	}
	named, ok := plain(m).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("line %d: an operation must be a map from field names to values, as in {:type :invoke, :f :read}",
			p.line)
	}
	return named, nil
}

// eventOf is the event of a map. keyed: its value is [key value], as jepsen.independent writes it.
func eventOf(p part, isJSON, keyed bool) (*Item, error) {
	m, err := fields(p, isJSON)
	if err != nil {
		return nil, err
	}
	e := &Item{Line: p.line, Value: m["value"]}
	var okType, okF bool
	e.Type, okType = m["type"].(string)
	e.F, okF = m["f"].(string)
	process, okProcess := m["process"]
	for name, ok := range map[string]bool{"process": okProcess, "type": okType, "f": okF} {
		if _, there := m[name]; !ok && !there {
			return nil, fmt.Errorf("line %d: the field %q is missing: an operation needs process, type, f and value", p.line, name)
		}
	}
	switch {
	case !okType || !slices.Contains([]string{Invoke, OK, Fail, Info}, e.Type):
		return nil, fmt.Errorf("line %d: the field `type` has the value %v, but it must be invoke, ok, fail or info", p.line, m["type"])
	case !okF:
		return nil, fmt.Errorf("line %d: the field f is %v: it must be the name of an operation", p.line, m["f"])
	}
	if e.Process, err = processOf(p, process); err != nil {
		return nil, err
	}
	if e.Time, e.TimeSet, err = number(p, m, "time"); err != nil {
		return nil, err
	}
	if e.index, e.indexed, err = number(p, m, "index"); err != nil {
		return nil, err
	}
	if err := e.keyOf(m["key"], keyed); err != nil {
		return nil, err
	}
	e.client, e.named = clientOf(e.Value)
	if !e.named {
		e.client, e.named = clientOf(m["debug"])
	}
	return e, nil
}

func clientOf(v any) (string, bool) {
	m, _ := v.(map[string]any)
	name := m["client"]
	return Canonical(name), name != nil
}

// processOf is the name of a process: a number or a text.
func processOf(p part, v any) (string, error) {
	switch x := v.(type) {
	case string:
		return strings.TrimPrefix(x, ":"), nil
	case int64, float64:
		return Canonical(x), nil
	}
	return "", fmt.Errorf("line %d: the field process is %s: it must be a number or a name", p.line, Text(v))
}

// keyOf finds the object of an event: it is named, or precedes the value.
func (e *Item) keyOf(named any, keyed bool) error {
	if named != nil {
		e.Key = Canonical(named)
	}
	if !keyed || e.Nemesis() {
		return nil
	}
	pair, ok := e.Value.([]any)
	if !ok || len(pair) != 2 {
		return fmt.Errorf("line %d: the field value is %s: with --independent, a value must have the form [key value]", e.Line,
			Text(e.Value))
	}
	e.Key, e.Value = Canonical(pair[0]), pair[1]
	return nil
}

// number is a field that may be absent.
func number(p part, m map[string]any, name string) (int64, bool, error) {
	switch x := m[name].(type) {
	case nil:
		return 0, false, nil
	case int64:
		return x, true, nil
	case float64:
		if x == float64(int64(x)) {
			return int64(x), true, nil
		}
	}
	return 0, false, fmt.Errorf("line %d: the field %s is %v: it must be a whole number", p.line, name, m[name])
}

// Nemesis reports whether the event is of the one that causes faults, which has no part in what is judged.
func (e *Item) Nemesis() bool { return e.Process == "nemesis" }
