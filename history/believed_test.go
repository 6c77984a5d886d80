package history

import (
	"testing"
	"time"
)

// The rules of the proven hold, one history each.
func TestHold(t *testing.T) {
	const leased = "run ends=lease ttl=100ms\n"
	const acquire = "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L grant=g sent=1ms ttl=100ms deadline=101ms " +
		"lease=l\n"
	tests := []struct {
		name, run, text string
		from, to        int64 // ms
	}{
		{"to the release's invocation", leased, acquire + "50ms 1 c1 invoke release grant=g\n60ms 1 c1 ok release grant=g\n", 2, 50},
		{"to the deadline minus the tolerance", leased, acquire + "150ms 1 c1 invoke release grant=g\n", 2, 96},
		{"trusting: past the deadline", "run ends=lease ttl=100ms discipline=trusting\n", acquire +
			"150ms 1 c1 invoke release grant=g\n", 2, 150},
		{"to the first loss notice", leased, acquire + "30ms - c1 info lost lease=l\n50ms 1 c1 invoke release grant=g\n", 2, 30},
		{"to the kill", leased, acquire + "40ms - nemesis info kill client=c1\n", 2, 40},
		{"to its last own event", "run ends=never\n", "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L " +
			"grant=g\n9ms - c1 invoke point\n", 2, 9},
		{"extended by a use", leased, acquire + "150ms 1 c1 invoke write grant=g register=plain base=1 new=2\n", 2, 150},
		{"a renewal carries on", leased, acquire + "50ms 2 c1 invoke renew grant=g lease=l\n52ms 2 c1 ok renew grant=g lease=l " +
			"sent=51ms ttl=100ms deadline=151ms\n160ms - c1 invoke point\n", 2, 146},
		{"a late renewal does not refill", leased, acquire + "50ms 2 c1 invoke renew grant=g lease=l\n120ms 2 c1 ok renew grant=g " +
			"lease=l sent=51ms ttl=100ms deadline=151ms\n", 2, 96},
		{"to the next acquire in that mode", "run ends=never\n", "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L " +
			"grant=g\n9ms 1 c1 invoke acquire lock=L grant=h\n20ms - c1 invoke point\n", 2, 9},
		{"a try that is refused ends nothing", "run ends=never\n", "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire " +
			"lock=L grant=g\n9ms 1 c1 invoke acquire lock=L grant=h\n20ms 1 c1 fail acquire lock=L grant=h error=busy\n", 2, 20},
		{"nor an upgrade", "run ends=never model=read-write\n", "0ms 1 c1 invoke acquire lock=L grant=g mode=shared\n2ms 1 c1 ok " +
			"acquire lock=L grant=g mode=shared\n9ms 1 c1 invoke acquire lock=L grant=h\n20ms - c1 invoke point\n", 2, 20},
		{"nor what is reentrant", "run ends=never model=reentrant\n", "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire " +
			"lock=L grant=g\n9ms 1 c1 invoke acquire lock=L grant=h\n20ms - c1 invoke point\n", 2, 20},
		{"a use after its own release extends nothing", leased, acquire + "50ms 1 c1 invoke release grant=g\n60ms 1 c1 ok release " +
			"grant=g\n70ms 1 c1 invoke write grant=g register=plain\n", 2, 50},
		{"nor after a release that found nothing", leased, acquire + "50ms 1 c1 invoke release grant=g\n60ms 1 c1 fail release " +
			"grant=g error=not-held\n70ms 1 c1 invoke write grant=g register=plain\n", 2, 50},
		{"but after one of unknown outcome", leased, acquire + "50ms 1 c1 invoke release grant=g\n60ms 1 c1 info release grant=g " +
			"error=timeout\n70ms 1 c1 invoke write grant=g register=plain\n", 2, 70},
		{"and between a release and its answer", leased, acquire + "50ms 1 c1 invoke release grant=g\n55ms 2 c1 invoke write grant=g " +
			"register=plain\n60ms 1 c1 ok release grant=g\n", 2, 55},
		{"a renewal without a deadline: unknown from then on", leased, acquire + "50ms 2 c1 invoke renew grant=g lease=l\n52ms 2 c1 " +
			"ok renew grant=g lease=l\n190ms - c1 invoke point\n", 2, 190},
		{"a renewal that was overtaken shortens nothing", leased, acquire + "50ms 2 c1 invoke renew grant=g lease=l\n52ms 3 c1 " +
			"invoke renew grant=g lease=l\n54ms 3 c1 ok renew grant=g lease=l sent=53ms ttl=100ms deadline=153ms\n56ms 2 c1 ok renew " +
			"grant=g lease=l sent=51ms ttl=100ms deadline=151ms\n190ms - c1 invoke point\n", 2, 148},
		{"two kills: the first one counts", leased, acquire + "40ms - nemesis info kill client=c1\n45ms - nemesis info kill " +
			"client=c1\n", 2, 40},
		{"an unknown acquire is no hold", leased, "0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 info acquire lock=L grant=g " +
			"error=timeout\n", 0, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := record(t, tc.run+tc.text)
			r.End, r.Finished["c1"] = &End{}, true // complete: see TestHoldsOfACutRecord
			got := r.Believed(r.ByID["g"])
			want := Interval{From: tc.from * int64(time.Millisecond), To: tc.to * int64(time.Millisecond)}
			if got != want {
				t.Errorf("hold [%d, %d) ms, want [%d, %d) ms", got.From/1e6, got.To/1e6, tc.from, tc.to)
			}
		})
	}
}

// Of a log that was cut off nobody knows what came after its last event.
func TestHoldsOfACutRecord(t *testing.T) {
	r := record(t, "run ends=lease ttl=1s\n0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L grant=g sent=1ms "+
		"ttl=1s deadline=1001ms lease=l\n50ms 2 c2 invoke acquire lock=L grant=h\n")
	if got, want := r.Believed(r.ByID["g"]), (Interval{From: 2e6, To: 2e6}); got != want {
		t.Errorf("hold %v, want %v", got, want)
	}
}

func TestFreedByTheHoldersDeath(t *testing.T) {
	const text = "run ends=process\n0ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L grant=g\n"
	r := record(t, text+"9ms - nemesis info kill client=c1\n")
	if got := r.Freed(r.ByID["g"]); got != 9e6 {
		t.Errorf("killed at 9 ms, freed from %d", got)
	}
	r = record(t, text)
	if got := r.Freed(r.ByID["g"]); got != 2e6 {
		t.Errorf("cut off after 2 ms, freed from %d", got)
	}
	r = record(t, text+"end\n")
	if got := r.Freed(r.ByID["g"]); got != 2e6 {
		t.Errorf("ended after 2 ms, freed from %d", got)
	}
}

// The connection of a grant may have ended by what is on record, and by nothing else.
func TestDisconnected(t *testing.T) {
	const run = "run ends=connection\n"
	const acquire = "1ms 1 c1 invoke acquire lock=L grant=g\n2ms 1 c1 ok acquire lock=L grant=g sent=1ms\n"
	fault := func(text string) string {
		return acquire + "10ms - nemesis invoke fault " + text + "\n11ms - nemesis ok fault " + text + "\n"
	}
	for _, tc := range []struct {
		name, text string
		from       int64 // ms
		explained  bool
	}{
		{"never", acquire, Forever, true},
		{"killed", acquire + "9ms - nemesis info kill client=c1\n", 9e6, true},
		{"another one was killed", acquire + "9ms - nemesis info kill client=c2\n", Forever, true},
		{"its connection was ended", fault(`{"id":1,"fault":"kill-connection","family":"store","clients":["c1"]}`), 10e6, true},
		{"another one's was", fault(`{"id":1,"fault":"kill-connection","family":"store","clients":["c2"]}`), Forever, true},
		{"the server was killed", fault(`{"id":1,"fault":"server-restart","family":"server","nodes":["n"]}`), 10e6, true},
		{
			"a pause of the client ends nothing", fault(`{"id":1,"fault":"client-pause","family":"client","clients":["c1"]}`),
			Forever, true,
		},
		{"it noticed", acquire + "9ms - c1 info lost grant=g\n", 1e6, false},
		{
			"no answer to its release", acquire + "9ms 1 c1 invoke release grant=g\n12ms 1 c1 info release grant=g error=closed\n", 1e6,
			false,
		},
	} {
		r := record(t, run+tc.text)
		if from, explained := r.Disconnected(r.ByID["g"]); from != tc.from || explained != tc.explained {
			t.Errorf("%s: %d, %v; want %d, %v", tc.name, from, explained, tc.from, tc.explained)
		}
	}
}
