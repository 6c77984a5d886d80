package nemesis

import (
	"context"
	"errors"
	"fmt"
)

// ClientStall keeps the goroutine of the critical section at its point, while the rest
// of the process, the renewer among it, goes on:
//
//	section --acquire--|...............|--write-->
//	renewer ---renew-----renew---renew-----renew->
type ClientStall struct{}

var (
	_ Fault = ClientStall{}
	_ Gater = ClientStall{}
)

// Available is always nil.
func (ClientStall) Available(Setting) error { return nil }

// Gates says that the client stays at its point until the heal.
func (ClientStall) Gates() {}

// Inject does nothing more: the client stands at its point, which its log shows.
func (ClientStall) Inject(_ context.Context, _ World, t Target) (Effect, error) {
	if t.Hit == nil {
		return Effect{}, errors.New("a stall needs a point")
	}
	h := t.Hit
	return Effect{
		Proof: fmt.Sprintf("%s stands at %s and waits to be let go", h.Client.Name(), h.Point),
		Heal: func(context.Context) (string, error) {
			h.Go()
			return h.Client.Name() + " goes on", nil
		},
	}, nil
}
