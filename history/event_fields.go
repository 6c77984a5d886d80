// Code generated from the tags of Line by make docs. DO NOT EDIT.

package history

// keptFields is how many fields are strings that come again.
const keptFields = 10

// appendFields appends the fields in JSON, without the braces.
func (l *Line) appendFields(b []byte, withIndex bool) []byte {
	if withIndex {
		b = append(appendInt(b, `"index":`, l.Index), ',')
	}
	b = appendInt(b, `"time":`, l.Time)
	b = l.Process.appendJSON(append(b, `,"process":`...))
	b = appendString(b, `,"type":`, string(l.Type))
	b = appendString(b, `,"f":`, l.F)
	b = l.Value.appendJSON(b)
	b = appendString(b, `,"error":`, l.Error)
	b = appendString(b, `,"message":`, l.Message)
	b = appendString(b, `,"party":`, l.Party)
	b = appendInt(b, `,"seq":`, l.Seq)
	b = appendString(b, `,"client":`, l.Client)
	b = appendString(b, `,"lock":`, l.Lock)
	b = appendString(b, `,"mode":`, l.Mode)
	b = appendString(b, `,"grant":`, l.Grant)
	b = appendString(b, `,"owner":`, l.Owner)
	b = appendString(b, `,"lease":`, l.Lease)
	b = appendOpt(b, `,"sent":`, l.Sent)
	b = appendOpt(b, `,"ttl":`, l.TTL)
	b = appendOpt(b, `,"deadline":`, l.Deadline)
	b = appendOpt(b, `,"token":`, l.Token)
	b = appendList(b, `,"nodes":`, l.Nodes)
	b = appendString(b, `,"register":`, l.Register)
	b = appendString(b, `,"node":`, l.Node)
	return b
}

// fields decodes what appendFields writes: in its order, and nothing else.
//
//nolint:gocyclo // a table
func (p *parser) fields(e *Event) bool {
	return (!p.word(`"index":`) || (p.number64(&e.Index) && p.byte(','))) &&
		p.word(`"time":`) && p.number64(&e.Time) &&
		p.word(`,"process":`) && p.process(e) &&
		p.word(`,"type":`) && p.kindOf(&e.kind) &&
		p.word(`,"f":`) && p.function(e) &&
		(!p.word(`,"value":`) || p.value(e)) &&
		(!p.word(`,"error":`) || p.keep(0, &p.rare.error)) &&
		(!p.word(`,"message":`) || p.own(&p.rare.message)) &&
		(!p.word(`,"party":`) || p.keep(1, &e.party)) &&
		(!p.word(`,"seq":`) || p.number64(&e.Seq)) &&
		(!p.word(`,"client":`) || p.keep(2, &e.client)) &&
		(!p.word(`,"lock":`) || p.keep(3, &e.lock)) &&
		(!p.word(`,"mode":`) || p.keep(4, &p.terms.mode)) &&
		(!p.word(`,"grant":`) || p.keep(5, &e.grant)) &&
		(!p.word(`,"owner":`) || p.keep(6, &p.terms.owner)) &&
		(!p.word(`,"lease":`) || p.keep(7, &p.terms.lease)) &&
		(!p.word(`,"sent":`) || p.opt(&p.terms.sent)) &&
		(!p.word(`,"ttl":`) || p.opt(&p.terms.ttl)) &&
		(!p.word(`,"deadline":`) || p.opt(&p.terms.deadline)) &&
		(!p.word(`,"token":`) || p.token(e)) &&
		(!p.word(`,"nodes":`) || p.names(&p.rare.nodes)) &&
		(!p.word(`,"register":`) || p.keep(8, &e.register)) &&
		(!p.word(`,"node":`) || p.keep(9, &p.rare.node))
}

// pack makes an event of a line.
func (p *packer) pack(l *Line) (e Event) {
	p.begin()
	e.Index = l.Index
	e.Time = l.Time
	p.packProcess(&e, l.Process)
	p.packType(&e, l.Type)
	p.packF(&e, l.F)
	p.packValue(&e, l.Value)
	p.rare.error = p.of(l.Error)
	p.rare.message = p.add(l.Message)
	e.party = p.of(l.Party)
	e.Seq = l.Seq
	e.client = p.of(l.Client)
	e.lock = p.of(l.Lock)
	p.terms.mode = p.of(l.Mode)
	e.grant = p.of(l.Grant)
	p.terms.owner = p.of(l.Owner)
	p.terms.lease = p.of(l.Lease)
	p.terms.sent = l.Sent
	p.terms.ttl = l.TTL
	p.terms.deadline = l.Deadline
	p.packToken(&e, l.Token)
	p.rare.nodes = p.list(l.Nodes)
	e.register = p.of(l.Register)
	p.rare.node = p.of(l.Node)
	p.seal(&e)
	return e
}

// Line returns the line of the event.
func (e *Event) Line() Line {
	return Line{
		Index:    e.Index,
		Time:     e.Time,
		Process:  e.Process(),
		Type:     e.Type(),
		F:        e.F(),
		Value:    e.Value(),
		Error:    e.Code(),
		Message:  e.Message(),
		Party:    e.Party(),
		Seq:      e.Seq,
		Client:   e.Client(),
		Lock:     e.Lock(),
		Mode:     e.Mode(),
		Grant:    e.Grant(),
		Owner:    e.Owner(),
		Lease:    e.Lease(),
		Sent:     e.Sent(),
		TTL:      e.TTL(),
		Deadline: e.Deadline(),
		Token:    e.Token(),
		Nodes:    e.Nodes(),
		Register: e.Register(),
		Node:     e.Node(),
	}
}

// Code returns the field of its [Line].
func (e *Event) Code() string { return e.text(e.ofRare().error) }

// Message returns the field of its [Line].
func (e *Event) Message() string { return e.text(e.ofRare().message) }

// Party returns the field of its [Line].
func (e *Event) Party() string { return e.text(e.party) }

// Client returns the field of its [Line].
func (e *Event) Client() string { return e.text(e.client) }

// Lock returns the field of its [Line].
func (e *Event) Lock() string { return e.text(e.lock) }

// Mode returns the field of its [Line].
func (e *Event) Mode() string { return e.text(e.ofTerms().mode) }

// Grant returns the field of its [Line].
func (e *Event) Grant() string { return e.text(e.grant) }

// Owner returns the field of its [Line].
func (e *Event) Owner() string { return e.text(e.ofTerms().owner) }

// Lease returns the field of its [Line].
func (e *Event) Lease() string { return e.text(e.ofTerms().lease) }

// Sent returns the field of its [Line].
func (e *Event) Sent() Opt { return e.ofTerms().sent }

// TTL returns the field of its [Line].
func (e *Event) TTL() Opt { return e.ofTerms().ttl }

// Deadline returns the field of its [Line].
func (e *Event) Deadline() Opt { return e.ofTerms().deadline }

// Nodes returns the field of its [Line].
func (e *Event) Nodes() []string { return e.list(e.ofRare().nodes) }

// Register returns the field of its [Line].
func (e *Event) Register() string { return e.text(e.register) }

// Node returns the field of its [Line].
func (e *Event) Node() string { return e.text(e.ofRare().node) }
