package register

import (
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// Handler answers a request. It calls log exactly once, at the moment at which the
// request takes effect or is refused, before it returns.
type Handler func(req Request, log func(Request, Response)) Response

// Registers are the values and their fences, in memory. The highest token is stored
// with the value it protects and lives exactly as long.
type Registers struct {
	fence Fence
	start map[string]int64
	mu    sync.Mutex
	cells map[cellKey]*cell
}

// Fence is the rule by which the fenced register takes a token.
type Fence string

// The rules. AtLeast is what most texts say, and is not enough: a lock that lost its
// memory may issue the same token twice.
const (
	Strict  Fence = "strict"   // higher than every one before, or equal and from the same grant
	AtLeast Fence = "at-least" // not lower than any one before, whoever brings it
)

type cellKey struct{ register, lock string }

type cell struct {
	value   int64
	highest int64  // highest token accepted
	holder  string // the grant that brought it
}

// New is a set of registers that start at the given values, by register; others at 0.
func New(fence Fence, start map[string]int64) *Registers {
	return &Registers{fence: fence, start: start, cells: map[cellKey]*cell{}}
}

// Handle answers one request; checking, applying and logging are one atomic step.
// Token rules of `fenced`, where it is strict: the token is checked on reads and on writes, as a 64-bit
// integer, per resource; an equal token is accepted only from the grant that brought
// it, because a lock that lost its memory may issue one twice.
func (r *Registers) Handle(req Request, log func(Request, Response)) Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := cellKey{req.Register, req.Lock}
	c := r.cells[k]
	if c == nil {
		c = &cell{value: r.start[req.Register]}
		r.cells[k] = c
	}
	resp := Response{Value: c.value}
	if req.Register == Fenced && !c.admit(req, r.fence) {
		resp.Error = history.ErrStaleToken
	} else if req.Op == history.FWrite {
		c.value = req.New
	}
	log(req, resp)
	return resp
}

func (c *cell) admit(req Request, fence Fence) bool {
	switch {
	case req.Token == nil:
		return false
	case *req.Token > c.highest || c.holder == "":
		c.highest, c.holder = *req.Token, req.Grant
		return true
	default:
		return *req.Token == c.highest && (req.Grant == c.holder || fence == AtLeast)
	}
}
