// Code generated from the tags of Event by make docs. DO NOT EDIT.

package history

// keptFields is how many fields are strings that come again.
const keptFields = 10

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

// fields decodes what appendFields writes: in its order, and nothing else.
//
//nolint:gocyclo // a table
func (p *parser) fields(e *Event) bool {
	return (!p.word(`"index":`) || (p.number(&e.Index) && p.byte(','))) &&
		p.word(`"time":`) && p.number(&e.Time) &&
		p.word(`,"process":`) && p.process(&e.Process) &&
		p.word(`,"type":`) && p.kind(&e.Type) &&
		p.word(`,"f":`) && p.function(&e.F) &&
		(!p.word(`,"value":`) || p.value(e)) &&
		(!p.word(`,"error":`) || p.keep(0, &e.Error)) &&
		(!p.word(`,"message":`) || p.own(&e.Message)) &&
		(!p.word(`,"party":`) || p.keep(1, &e.Party)) &&
		(!p.word(`,"seq":`) || p.number(&e.Seq)) &&
		(!p.word(`,"client":`) || p.keep(2, &e.Client)) &&
		(!p.word(`,"lock":`) || p.keep(3, &e.Lock)) &&
		(!p.word(`,"mode":`) || p.keep(4, &e.Mode)) &&
		(!p.word(`,"grant":`) || p.keep(5, &e.Grant)) &&
		(!p.word(`,"owner":`) || p.keep(6, &e.Owner)) &&
		(!p.word(`,"lease":`) || p.keep(7, &e.Lease)) &&
		(!p.word(`,"sent":`) || p.opt(&e.Sent)) &&
		(!p.word(`,"ttl":`) || p.opt(&e.TTL)) &&
		(!p.word(`,"deadline":`) || p.opt(&e.Deadline)) &&
		(!p.word(`,"token":`) || p.opt(&e.Token)) &&
		(!p.word(`,"nodes":`) || p.list(&e.Nodes)) &&
		(!p.word(`,"register":`) || p.keep(8, &e.Register)) &&
		(!p.word(`,"node":`) || p.keep(9, &e.Node))
}
