package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/history"
)

// standings are the rows of servers as "row: class label text".
func standings(t *testing.T, text string) []string {
	t.Helper()
	rec := parsed(t, text)
	for i := range rec.Events {
		if e := &rec.Events[i]; e.F == history.FAcquire && e.Type == history.OK {
			e.Nodes = []string{"d", "e"}
		}
	}
	p := newPainter(rec, endOf(rec), nil)
	tl := p.paint("", failed(nil), nil)
	var out []string
	for _, s := range tl.Shapes {
		for class := range nouns {
			if s.Class == class && s.Kind == kindRect && slices.Contains([]string{"master", "replica", "down", "role", "server"}, class) {
				out = append(out, fmt.Sprintf("%.0f-%.0f %s", s.X, s.X+s.W, s.Text))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Every server that the record names has a row that says what it is, for as long as is
// known: what it said; else what a fault found; dead until the fault was healed.
func TestServersAreShown(t *testing.T) {
	got := standings(t, `
0ms - controller info role node=a "master"
0ms - controller info role node=b "replica"
100ms 1 c1 invoke acquire lock=L1 grant=g1
110ms 1 c1 ok acquire lock=L1 grant=g1
300ms - nemesis invoke fault {"id":1,"fault":"server-kill","family":"server","nodes":["d"],"roles":{"d":"leader"}}
300ms - nemesis info kill node=d
301ms - nemesis ok fault {"id":1,"fault":"server-kill","family":"server","nodes":["d"],"roles":{"d":"leader"},"proof":"died"}
500ms - controller info role node=a "down"
500ms - controller info role node=b "master"
600ms - nemesis invoke heal {"id":1,"fault":"server-kill"}
600ms - nemesis ok heal {"id":1,"fault":"server-kill"}
700ms - nemesis invoke fault {"id":2,"fault":"server-pause","family":"server","nodes":["watcher"],"roles":{"watcher":"supervisor"}}
701ms - nemesis ok fault {"id":2,"fault":"server-pause","family":"server","nodes":["watcher"],"roles":{"watcher":"supervisor"},"proof":"stopped"}
1000ms 1 c1 invoke release lock=L1 grant=g1
`)
	want := []string{
		"411-732 d: down, killed at 0.300 s",
		"625-1160 a: down, the record shows this role since 0.500 s",
		"625-1160 b: master, the record shows this role since 0.500 s",
		"90-1160 d: leader, the server had this role at 0.300 s, when a fault was injected",
		"90-1160 e: server, the record does not show the role of this server",
		"90-1160 watcher: supervisor, the server had this role at 0.700 s, when a fault was injected",
		"90-625 a: master, the record shows this role since 0.000 s",
		"90-625 b: replica, the record shows this role since 0.000 s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A fault that names neither clients nor servers is in the picture, too.
func TestFaultOfNeither(t *testing.T) {
	rec := parsed(t, `
100ms 1 c1 invoke acquire lock=L1 grant=g1
110ms 1 c1 ok acquire lock=L1 grant=g1
300ms - nemesis invoke fault {"id":1,"fault":"power","family":"store"}
301ms - nemesis ok fault {"id":1,"fault":"power","family":"store","proof":"gone"}
1000ms 1 c1 invoke release lock=L1 grant=g1
`)
	tl := newPainter(rec, endOf(rec), nil).paint("", failed(nil), nil)
	if !slices.ContainsFunc(tl.Shapes, func(s Shape) bool { return s.Class == "faultall" && s.Text == "power #1: gone" }) {
		t.Errorf("it is not among %+v", tl.Shapes)
	}
}
