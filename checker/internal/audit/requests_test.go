package audit

import (
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// What is looked up among many requests is what is found by looking at each.
func TestRequestsAreFoundAsByLooking(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1)) // a seed
	opt := func() history.Opt {
		if rnd.IntN(4) == 0 {
			return history.Opt{}
		}
		return history.Some(int64(rnd.IntN(3)))
	}
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	request := func(at int64, what history.Type) history.Line {
		e := history.Line{
			Time: at, Type: what, F: pick(history.FRead, history.FWrite), Register: pick("a", "b"), Token: opt(),
			Grant: "g",
		}
		e.Value.Base, e.Value.New = opt(), opt()
		return e
	}
	found := 0
	for range 20_000 {
		log := []received{{}}
		for i := range rnd.IntN(6) {
			e := request(int64(i*10), history.Type(pick(string(history.OK), string(history.Fail))))
			log = append(log, received{Event: e.Event(), next: i + 2})
		}
		log[len(log)-1].next = 0
		first := min(1, len(log)-1)
		invoke := request(int64(rnd.IntN(60)), history.Invoke)
		back := request(invoke.Time+int64(rnd.IntN(30)),
			history.Type(pick(string(history.OK), string(history.Fail), string(history.Info))))
		back.Error = pick("", history.ErrNotSent, history.ErrStaleToken, history.ErrTimeout)
		c := &history.Call{Invoke: invoke.Event(), Return: back.Event()}
		var same []*history.Event
		for i := first; i != 0; i = log[i].next {
			if log[i].like(c.Invoke) {
				same = append(same, log[i].Event)
			}
		}
		looked, lookedUp := &audit{}, &audit{}
		looked.answered(c, same)
		lookedUp.answered(c, requestsOf(log, first).like(c))
		if len(looked.findings) != len(lookedUp.findings) {
			t.Fatalf("%v -> %v\nlooking finds %v\nlooking up finds %v", invoke, back, looked.findings, lookedUp.findings)
		}
		found += len(looked.findings)
	}
	if found < 1000 {
		t.Errorf("only %d findings", found)
	}
}
