package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// Grid is a history that no lock made: clients do and are told anything, on a grid of few moments, among faults, stalls and
// stands at points. Its log of registers may be wrong as well.
func Grid(seed uint64) *history.History {
	text := GridText(seed)
	h, err := history.ParseText(strings.NewReader(text))
	if err != nil {
		panic(fmt.Sprintf("seed %d: %v\n%s", seed, err, text)) // a mistake of this file
	}
	return h
}

// GridText is Grid as fixtures have it.
func GridText(seed uint64) string {
	g := grid{r: rand.New(rand.NewPCG(seed, 23)), end: 60, process: map[string]int{}}
	g.late = g.odds(2)
	for c := range 2 + g.r.IntN(2) {
		g.client(fmt.Sprintf("c%d", c+1), int64(g.r.IntN(4)))
	}
	for id := range g.r.IntN(4) {
		g.fault(id + 1)
	}
	for range g.r.IntN(4) {
		g.add(g.at(), fmt.Sprintf(`- %s info stall {"late_ns":%d}`, g.one("c1", "c2", "controller"), g.r.Int64N(12)*unit))
	}
	for range g.r.IntN(3) {
		span := 1 + g.r.Int64N(10)
		g.add(g.at(), fmt.Sprintf(`- controller info pressure {"span_ns":%d,"cpu_ns":%d,"io_ns":0}`, span*unit,
			g.r.Int64N(span+1)*unit))
	}
	if g.odds(2) {
		g.add(int64(20+g.r.IntN(30)), `- controller info phase "final"`)
	}
	slices.SortStableFunc(g.lines, func(a, b gridLine) int { return int(a.at - b.at) })
	var text strings.Builder
	fmt.Fprintf(&text, "run ends=%s ttl=%s tolerance=%s bound=%s recovery=%s discipline=%s renews=%v model=%s tokens=true "+
		"registers=plain,fenced fair=%v resource=true",
		g.one("lease", "lease", "lease", "never", "process", "connection"), ticks(4*(1+g.r.Int64N(4))), ticks(1+g.r.Int64N(2)),
		ticks(20), ticks(g.r.Int64N(3)), g.one("obey", "told", "told", "trusting"), g.odds(2),
		g.one("exclusive", "exclusive", "read-write"), g.odds(2))
	if g.odds(2) {
		text.WriteString(" signals=channel")
	}
	for _, l := range g.lines {
		fmt.Fprintf(&text, "\n%s %s", ticks(l.at), l.text)
	}
	text.WriteString("\nend\n")
	return text.String()
}

// unit is one step of the grid, in ns.
const unit = 5_000_000

func ticks(n int64) string { return fmt.Sprintf("%dms", n*unit/1e6) }

type gridLine struct {
	at   int64
	text string
}

type grid struct {
	r      *rand.Rand
	end    int64
	grants int64
	value  int64
	lines  []gridLine

	late    bool           // clients stay longer than their leases last, and releases are slow
	process map[string]int // of each client: a new one after an outcome that nobody knows
	next    int
}

func (g *grid) one(of ...string) string { return of[g.r.IntN(len(of))] }

func (g *grid) odds(one int) bool { return g.r.IntN(one) == 0 }

func (g *grid) at() int64 { return g.r.Int64N(g.end) }

func (g *grid) add(at int64, text string) { g.lines = append(g.lines, gridLine{at, text}) }

// call is an operation of a client from a moment on; it returns when it ended, and how.
func (g *grid) call(at int64, client, f, fields, ok string, outcomes ...string) (until int64, outcome string) {
	until = at + g.r.Int64N(4)*g.r.Int64N(3)
	if g.late && f == "release" {
		until += g.r.Int64N(12)
	}
	outcome = g.one(outcomes...)
	kind, said, _ := strings.Cut(outcome, " ")
	if kind == "ok" {
		said = ok
	}
	process := g.process[client]
	if process == 0 {
		g.next++
		process = g.next
	}
	g.process[client] = process
	if kind == "info" {
		g.process[client] = 0
	}
	g.add(at, fmt.Sprintf("%d %s invoke %s %s", process, client, f, fields))
	g.add(until, fmt.Sprintf("%d %s %s %s %s %s", process, client, kind, f, fields, said))
	return until, kind
}

// client asks for locks, uses and releases them until the time is over.
func (g *grid) client(name string, at int64) {
	for at < g.end && !g.odds(8) {
		g.grants++
		ttl, token := 4*(1+g.r.Int64N(4)), g.grants-g.r.Int64N(2)*g.r.Int64N(2)
		fields := fmt.Sprintf("lock=%s grant=g%d", g.one("L", "L", "L", "M"), g.grants)
		if g.odds(3) {
			fields += " mode=shared"
		}
		lease := func(from int64) string {
			return fmt.Sprintf("sent=%s ttl=%s deadline=%s token=%d", ticks(from), ticks(ttl), ticks(from+ttl), token)
		}
		f, how := g.one("acquire", "acquire", "try-acquire"), ""
		at, how = g.call(at, name, f, fields, lease(at), "ok", "ok", "ok", "fail error=busy", "info error=timeout")
		if how == "ok" {
			at = g.holds(name, at, fields, token, lease)
		}
		at += g.r.Int64N(3)
	}
	if g.odds(6) {
		g.add(at, "- nemesis info kill "+fmt.Sprintf(`client=%s`, name))
	}
}

// holds is what a client does under a grant.
func (g *grid) holds(name string, at int64, fields string, token int64, lease func(from int64) string) int64 {
	plain := fields
	if i := strings.Index(plain, " mode"); i > 0 {
		plain = plain[:i]
	}
	for range g.r.IntN(5) {
		at += g.r.Int64N(3)
		switch g.r.IntN(6) {
		case 0:
			at, _ = g.call(at, name, "renew", plain, lease(at), "ok", "ok", "fail error=not-held", "info error=timeout")
		case 1:
			g.add(at, fmt.Sprintf("- %s invoke point %s", name, plain))
			at += g.r.Int64N(6)
			g.add(at, fmt.Sprintf("- %s ok point %s", name, plain))
		case 2:
			g.add(at, fmt.Sprintf("- %s info lost %s", name, plain))
		case 3:
			at, _ = g.call(at, name, "work", plain, "", "ok", "info error=timeout")
		default:
			at = g.writes(name, at, plain, token)
		}
	}
	if g.late {
		at += g.r.Int64N(16)
	}
	if !g.odds(4) {
		at, _ = g.call(at+g.r.Int64N(3), name, "release", plain, "", "ok", "ok", "fail error=not-held", "info error=timeout")
	}
	return at
}

// writes is a read and a write of a register, which logs both.
func (g *grid) writes(name string, at int64, fields string, token int64) int64 {
	register := g.one("plain", "fenced")
	if fields += " register=" + register; register == "fenced" {
		fields += fmt.Sprintf(" token=%d", token)
	}
	base := fmt.Sprintf("base=%d", g.value-g.r.Int64N(2)*g.r.Int64N(2))
	g.add(at, fmt.Sprintf("- register ok read %s %s", fields, base))
	at, _ = g.call(at, name, "read", fields, base, "ok")
	g.value++
	fields += fmt.Sprintf(" %s new=%d", base, g.value)
	g.add(at, fmt.Sprintf("- register ok write %s", fields))
	at, _ = g.call(at, name, "write", fields, "", "ok", "ok", "info error=timeout")
	return at
}

// fault is one of any kind, with or without an effect.
func (g *grid) fault(id int) {
	family := g.one("client", "client", "client", "link", "server", "clock", "store")
	who := fmt.Sprintf(`"clients":["%s"]`, g.one("c1", "c2"))
	if family == "server" || family == "clock" {
		who = `"nodes":["n1"]`
	}
	text := fmt.Sprintf(`{"id":%d,"fault":"%s-fault","family":"%s",%s`, id, family, family, who)
	at := g.at()
	g.add(at, "- nemesis invoke fault "+text+"}")
	g.add(at+g.r.Int64N(2), fmt.Sprintf(`- nemesis %s fault %s,"proof":"seen"}`, g.one("ok", "ok", "ok", "fail"), text))
	g.add(at+2+g.r.Int64N(20), "- nemesis ok heal "+text+"}")
}
