package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Names of the parameters of clock-jump.
const (
	paramBy   = "by"
	paramUndo = "undo"
)

func clockJump() nemesis.Spec {
	return nemesis.Spec{
		Name: "clock-jump", Doc: "makes the wall clock of servers jump; a key whose expiry it jumps past expires at once",
		Proven: "Each server reports its new time.",
		End:    "With `undo=yes` the clock is set right, and the server reports its time; otherwise it stays wrong.",
		Family: history.FamilyClock, Whom: nemesis.Nodes, Fault: fault{canClockJump, injectClockJump},
		Strikes: strikeAcquired, Check: checkJump, SetsBack: setsBack,
		Lasts: func(own catalog.Values) bool { return own[paramUndo] == "yes" },
		Params: nemesis.StrikingGrants(nemesis.GrantAll, nemesis.ServerParams("1s", "2.5ttl", "1",
			catalog.Param{Name: paramBy, Default: "15s", Doc: "how far, as a duration or in ttl; negative: back"},
			catalog.Param{Name: paramUndo, Default: "no", Choices: catalog.YesNo(), Doc: "yes: the clock is set right after " +
				"`for`; no: it stays wrong"})),
	}
}

// strikeAcquired ties every step to a fresh grant.
func strikeAcquired(int, []string) string { return history.AtAcquired }

const minJump = 20 * time.Millisecond

// canClockJump says why clocks cannot jump here.
func canClockJump(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.NoClock == "", "%s", s.NoClock))
}

func checkJump(own catalog.Values, in nemesis.Input) error {
	_, err := jumpBy(own, in.TTL)
	return err
}

// setsBack is how far a jump goes back, at its beginning or at its end.
func setsBack(own catalog.Values, ttl time.Duration) time.Duration {
	by, err := jumpBy(own, ttl)
	if err != nil {
		return 0 // checkJump has refused it
	}
	if own[paramUndo] == "yes" {
		by = -by.Abs()
	}
	return max(-by, 0)
}

// jumpBy is how far clocks jump: negative for back.
func jumpBy(own catalog.Values, ttl time.Duration) (time.Duration, error) {
	text, back := strings.CutPrefix(own[paramBy], "-")
	d, err := catalog.Values{paramBy: text}.Length(paramBy, ttl)
	if err != nil {
		return 0, err
	}
	if d < minJump {
		return 0, fmt.Errorf("%s=%s is too small: the minimum is %v, forward or back, because a smaller jump looks like clock drift",
			paramBy, own[paramBy], minJump)
	}
	if back {
		d = -d
	}
	return d, nil
}

// injectClockJump moves the wall clocks of servers by which they expire keys:
//
//	server  --key with ttl 3s--|jump 15s|--the key is gone
//	client  --granted-------------------believes for 3 s
//
// It is not undone unless asked for: a clock that was set right stays so.
// It lets the clocks jump and reads them back.
func injectClockJump(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	by, err := jumpBy(t.Params, w.TTL())
	if err != nil {
		return nemesis.Effect{}, err
	}
	var jumped []nemesis.Clocker
	back := func(ctx context.Context) (string, error) { return jumpAll(ctx, jumped, -by) }
	var proofs []string
	for _, n := range t.Nodes {
		c, ok := nemesis.As[nemesis.Clocker](n)
		if !ok {
			return nemesis.Effect{Heal: back}, fmt.Errorf("lockstorm cannot change the clock of server %s", n.Name())
		}
		proof, err := c.Jump(ctx, by)
		if err != nil {
			return nemesis.Effect{Heal: back}, err
		}
		jumped, proofs = append(jumped, c), append(proofs, proof)
	}
	e := nemesis.Effect{Proof: strings.Join(proofs, "; ")}
	if t.Params[paramUndo] == "yes" {
		e.Heal = back
	}
	return e, nil
}

func jumpAll(ctx context.Context, clocks []nemesis.Clocker, by time.Duration) (string, error) {
	var proofs []string
	var errs []error
	for _, c := range clocks {
		proof, err := c.Jump(ctx, by)
		proofs, errs = append(proofs, proof), append(errs, err)
	}
	return strings.Join(proofs, "; "), errors.Join(errs...)
}
