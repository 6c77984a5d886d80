package nemesis

import (
	"context"
	"errors"
	"strings"

	"github.com/lockstorm/lockstorm/internal/proc"
)

// ClientPause stops whole client processes:
//
//	client  --acquire--[check]--STOP..............CONT--write-->
//	lease   |<------------- ttl ------------>|         ^ too late, and nothing checks
type ClientPause struct{}

var _ Fault = ClientPause{}

// Available is always nil: every client is a process.
func (ClientPause) Available(Setting) error { return nil }

// Inject sends SIGSTOP to the process groups and reads back that every thread stopped.
// A client that stood at a point is let go only then: it goes on when it is resumed.
func (ClientPause) Inject(ctx context.Context, _ World, t Target) (Effect, error) {
	var proofs []string
	e := Effect{Heal: func(ctx context.Context) (string, error) { return resumeAll(ctx, t.Clients) }}
	for _, c := range t.Clients {
		proof, err := c.Pause(ctx)
		if err != nil {
			return e, err
		}
		proofs = append(proofs, c.Name()+" "+proof)
	}
	e.Proof = strings.Join(proofs, "; ")
	return e, nil
}

// resume lets a target go on. One that another fault killed meanwhile needs no healing.
func resume(ctx context.Context, p interface {
	Resume(ctx context.Context) (string, error)
},
) (string, error) {
	proof, err := p.Resume(ctx)
	if errors.Is(err, proc.ErrGone) {
		return "was killed meanwhile", nil
	}
	return proof, err
}

func resumeAll(ctx context.Context, clients []Client) (string, error) {
	var proofs []string
	var errs []error
	for _, c := range clients {
		proof, err := resume(ctx, c)
		errs = append(errs, err)
		proofs = append(proofs, c.Name()+" "+proof)
	}
	return strings.Join(proofs, "; "), errors.Join(errs...)
}
