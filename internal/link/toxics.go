package link

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Names of our own toxics in toxiproxy's registry.
const (
	holdToxic      = "lockstorm_hold"
	lostReplyToxic = "lockstorm_lost_reply"
)

// register makes our toxics known to toxiproxy, whose registry is global.
var register = sync.OnceFunc(func() {
	toxics.Register(holdToxic, new(hold))
	toxics.Register(lostReplyToxic, new(lostReply))
})

// hold keeps every chunk back until it is removed:
//
//	party --a--b--c--> [a b c] .......remove.......> --a--b--c--> party
//
// What it keeps is state of the connection, because toxiproxy interrupts a toxic also
// when another one is added behind it.
type hold struct{ held atomic.Int64 }

var (
	_ toxics.Toxic         = (*hold)(nil)
	_ toxics.StatefulToxic = (*hold)(nil)
	_ toxics.CleanupToxic  = (*hold)(nil)
)

type kept struct {
	chunks []*stream.StreamChunk
	ended  bool
}

// NewState returns the state of one connection.
func (h *hold) NewState() any { return &kept{} }

// Pipe keeps what comes.
func (h *hold) Pipe(stub *toxics.ToxicStub) {
	k, ok := stub.State.(*kept)
	if !ok {
		return
	}
	for {
		input := stub.Input
		if k.ended {
			input = nil
		}
		select {
		case <-stub.Interrupt:
			return
		case c := <-input:
			if c == nil {
				k.ended = true
				continue
			}
			k.chunks = append(k.chunks, c)
			h.held.Add(int64(len(c.Data)))
		}
	}
}

// Cleanup delivers what was kept, in order.
func (h *hold) Cleanup(stub *toxics.ToxicStub) {
	k, ok := stub.State.(*kept)
	if !ok {
		return
	}
	for _, c := range k.chunks {
		stub.Output <- c
		h.held.Add(-int64(len(c.Data)))
	}
	if k.ended {
		stub.Close()
	}
}

// lostReply swallows the first answer that is no refusal, closes its connection, and
// from then on lets everything pass:
//
//	server --"+OK"--> X   client <--closed--
type lostReply struct {
	Refusals int64 `json:"refusals"` // which of refusals knows the protocol
	lost     atomic.Pointer[string]
}

// refusals are functions that tell an answer by which nothing was done, by number: toxics
// are made by toxiproxy from JSON, which holds no functions.
var refusals sync.Map

// Pipe looks for the answer to lose.
func (r *lostReply) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			text := string(bytes.TrimSpace(c.Data))
			if !r.refused(c.Data) && r.lost.CompareAndSwap(nil, &text) {
				stub.Close()
				drain(stub)
				return
			}
			stub.Output <- c
		}
	}
}

// refused asks who knows the protocol; without anybody, no answer is lost.
func (r *lostReply) refused(answer []byte) bool {
	f, ok := refusals.Load(r.Refusals)
	if !ok {
		return true
	}
	tell, ok := f.(func([]byte) bool)
	return !ok || tell == nil || tell(answer)
}

// drain takes what still comes, until its source ends: nobody else would.
func drain(stub *toxics.ToxicStub) {
	for c := range stub.Input {
		_ = c // lost with its connection
	}
}
