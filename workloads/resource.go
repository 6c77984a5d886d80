package workloads

import (
	"context"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
)

// RegisterResource makes the register server the resource of a client.
func RegisterResource(client string, c *register.Client) Resource {
	return &registerResource{client: client, conn: c}
}

// SideBySide returns the registers of a workload that updates an unfenced and a fenced one together, the unfenced
// first, so that no answer of the fenced one alters its path. A lock without tokens has no fence.
func SideBySide(fencing string, tokens bool) []Register {
	switch {
	case fencing == history.FencingOn:
		return []Register{{Name: register.Fenced}}
	case fencing == history.FencingBoth && tokens:
		return []Register{{Name: register.Plain}, {Name: register.Fenced}}
	default:
		return []Register{{Name: register.Plain}}
	}
}

type registerResource struct {
	client string
	conn   *register.Client
}

// Open needs no request: each one carries the grant and its token.
func (r *registerResource) Open(_ context.Context, lock, grant string, info backends.Info) (Access, error) {
	a := &registerAccess{r: r, lock: lock, grant: grant}
	if info.HasToken {
		a.token = &info.Token
	}
	return a, nil
}

// Close ends the connection.
func (r *registerResource) Close() error { return r.conn.Close() }

type registerAccess struct {
	r           *registerResource
	lock, grant string
	token       *int64
}

func (a *registerAccess) request(op, reg string) register.Request {
	req := register.Request{Op: op, Register: reg, Lock: a.lock, Client: a.r.client, Grant: a.grant}
	if reg == register.Fenced {
		req.Token = a.token
	}
	return req
}

// Read reads the register's value.
func (a *registerAccess) Read(ctx context.Context, reg string) (int64, error) {
	return a.r.conn.Do(ctx, a.request(history.FRead, reg))
}

// Write stores a value.
func (a *registerAccess) Write(ctx context.Context, reg string, base, value int64) error {
	req := a.request(history.FWrite, reg)
	req.Base, req.New = base, value
	_, err := a.r.conn.Do(ctx, req)
	return err
}
