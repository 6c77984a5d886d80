// Package register is the protected resource: a small server, inside the controller,
// with two integer registers per lock. `plain` accepts every request; `fenced` accepts
// one only if its token is not lower than the highest it has seen. Clients reach it
// over TCP, one JSON object a line each way, so that a link can delay their requests.
//
// The server's own log is the order of what it accepted, written before it answers.
package register

import "github.com/lockstorm/lockstorm/history"

// Names of the two registers.
const (
	Plain  = "plain"
	Fenced = "fenced"
)

// Request reads or writes one register of one lock's resource, under a grant.
type Request struct {
	Op       string `json:"op"` // history.FRead or history.FWrite
	Register string `json:"register"`
	Lock     string `json:"lock"`
	Client   string `json:"client"`
	Grant    string `json:"grant"`
	Token    *int64 `json:"token,omitempty"`
	Base     int64  `json:"base,omitempty"` // of a write: the value that was read
	New      int64  `json:"new,omitempty"`  // of a write: the value to store
}

// Response answers a request: the value before it, or a code of the closed list.
type Response struct {
	Value int64  `json:"value"`
	Error string `json:"error,omitempty"`
}

// event is how the register records a request that it answered.
func event(req Request, resp Response) history.Line {
	e := history.Line{
		Type: history.OK, F: req.Op, Register: req.Register, Lock: req.Lock,
		Client: req.Client, Grant: req.Grant, Error: resp.Error,
	}
	if resp.Error != "" {
		e.Type = history.Fail
	}
	if req.Token != nil {
		e.Token = history.Some(*req.Token)
	}
	if req.Op == history.FWrite {
		e.Value = history.Value{Base: history.Some(req.Base), New: history.Some(req.New)}
	} else {
		e.Value.Base = history.Some(resp.Value)
	}
	return e
}
