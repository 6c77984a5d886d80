package shrink

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

const two = `run ends=lease discipline=obey fencing=off ttl=1s tolerance=5ms stall=100ms bound=3s tokens=false client-faults=true registers=plain nemesis=client-pause
0s 1 c1 invoke acquire lock=L grant=a owner=a
1ms 2 c2 invoke acquire lock=L grant=b owner=b
2ms 1 c1 ok acquire lock=L grant=a owner=a lease=a sent=1ms ttl=1s deadline=1.001s
3ms 1 c1 invoke write lock=L grant=a register=plain base=0 new=1
4ms - register ok write lock=L grant=a register=plain client=c1 base=0 new=1
5ms 1 c1 ok write lock=L grant=a register=plain base=0 new=1
6ms - nemesis invoke fault {"id":1,"fault":"client-pause","request":0,"family":"client","clients":["c2"]}
7ms - c2 info stall {"late_ns":1000000}
end
`

func parse(t *testing.T) *history.History {
	t.Helper()
	h, err := history.ParseText(strings.NewReader(two))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What is written as text reads back as the same history.
func TestTextReadsBack(t *testing.T) {
	if got := Text(parse(t)); got != two {
		t.Errorf("got\n%s", got)
	}
}

// Everything goes but what is asked for and what stays; a register's line goes with its call.
func TestShrink(t *testing.T) {
	has := func(h *history.History, f string) bool {
		return slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.F() == f })
	}
	h := Shrink(parse(t), Stays{Grants: []string{"b"}}, func(h *history.History) bool { return has(h, history.FFault) })
	if has(h, history.FWrite) || has(h, history.FStall) || !has(h, history.FFault) {
		t.Errorf("got\n%s", Text(h))
	}
	if !slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Grant() == "b" }) {
		t.Error("what had to stay was taken out")
	}
	for i, e := range h.Events {
		if e.Index != int64(i) {
			t.Errorf("event %d has the number %d", i, e.Index)
		}
	}
}
