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

// NewState is what is kept of one connection.
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
	lost atomic.Pointer[string]
}

var _ toxics.Toxic = (*lostReply)(nil)

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
			if !refusal(c.Data) && r.lost.CompareAndSwap(nil, &text) {
				stub.Close()
				drain(stub)
				return
			}
			stub.Output <- c
		}
	}
}

// refusal reports whether a Redis answer says that nothing was done, or answers what
// changes nothing: a greeting, a PING, INFO, a push.
func refusal(answer []byte) bool {
	if _, body, ok := bytes.Cut(answer, []byte("\r\n")); ok && bytes.HasPrefix(body, []byte("# ")) {
		return true
	}
	for _, prefix := range []string{"$-1\r", "_\r", ":0\r", "-", "*", "%", ">", "+PONG"} {
		if bytes.HasPrefix(answer, []byte(prefix)) {
			return true
		}
	}
	return false
}

// drain takes what still comes, until its source ends: nobody else would.
func drain(stub *toxics.ToxicStub) {
	for c := range stub.Input {
		_ = c // lost with its connection
	}
}
