// Code generated from the tags of Event by make docs. DO NOT EDIT.

package history

// again is how many fields are mostly as in the event before.
const againFields = 4

// appendFields appends the fields of an event in JSON, without the braces.
func (e *Event) appendFields(b []byte, withIndex bool) []byte {
	if withIndex {
		b = append(appendInt(b, `"index":`, e.Index), ',')
	}
	b = appendInt(b, `"time":`, e.Time)
	b = e.Process.appendJSON(append(b, `,"process":`...))
	b = appendString(b, `,"type":`, string(e.Type))
	b = appendString(b, `,"f":`, e.F)
	b = e.Value.appendJSON(b)
	b = appendString(b, `,"error":`, e.Error)
	b = appendString(b, `,"message":`, e.Message)
	b = appendString(b, `,"party":`, e.Party)
	b = appendInt(b, `,"seq":`, e.Seq)
	b = appendString(b, `,"client":`, e.Client)
	b = appendString(b, `,"lock":`, e.Lock)
	b = appendString(b, `,"mode":`, e.Mode)
	b = appendString(b, `,"grant":`, e.Grant)
	b = appendString(b, `,"owner":`, e.Owner)
	b = appendString(b, `,"lease":`, e.Lease)
	b = appendOpt(b, `,"sent":`, e.Sent)
	b = appendOpt(b, `,"ttl":`, e.TTL)
	b = appendOpt(b, `,"deadline":`, e.Deadline)
	b = appendOpt(b, `,"token":`, e.Token)
	b = appendList(b, `,"nodes":`, e.Nodes)
	b = appendString(b, `,"register":`, e.Register)
	b = appendString(b, `,"node":`, e.Node)
	return b
}

// field decodes the value of a key.
//
//nolint:gocyclo // a table
func (p *parser) field(key []byte, e *Event) bool {
	switch string(key) {
	case "index":
		return p.once(4) && p.number(&e.Index)
	case "time":
		return p.once(0) && p.number(&e.Time)
	case "process":
		return p.once(1) && p.process(&e.Process)
	case "type":
		return p.once(2) && p.kind(&e.Type)
	case "f":
		return p.once(3) && p.function(&e.F)
	case "value":
		return p.once(5) && p.seen&bitF != 0 && p.value(e)
	case "error":
		return p.once(6) && p.keep(&e.Error)
	case "message":
		return p.once(7) && p.own(&e.Message)
	case "party":
		return p.once(8) && p.again(0, &e.Party)
	case "seq":
		return p.once(9) && p.number(&e.Seq)
	case "client":
		return p.once(10) && p.again(1, &e.Client)
	case "lock":
		return p.once(11) && p.again(2, &e.Lock)
	case "mode":
		return p.once(12) && p.keep(&e.Mode)
	case "grant":
		return p.once(13) && p.again(3, &e.Grant)
	case "owner":
		return p.once(14) && p.keep(&e.Owner)
	case "lease":
		return p.once(15) && p.keep(&e.Lease)
	case "sent":
		return p.once(16) && p.opt(&e.Sent)
	case "ttl":
		return p.once(17) && p.opt(&e.TTL)
	case "deadline":
		return p.once(18) && p.opt(&e.Deadline)
	case "token":
		return p.once(19) && p.opt(&e.Token)
	case "nodes":
		return p.once(20) && p.list(&e.Nodes)
	case "register":
		return p.once(21) && p.keep(&e.Register)
	case "node":
		return p.once(22) && p.keep(&e.Node)
	}
	return false
}
