package adapter

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/adapter/adaptertest"
)

// A grant that comes after its attempt was given up is released: nobody would do it later.
func TestLateGrantIsGivenBack(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{self, adaptertest.AsAdapter + "late"}
	d, err := Describe(argv)
	if err != nil {
		t.Fatal(err)
	}
	clock := history.NewClock()
	made, err := open(t.Context(), d, argv, backends.Env{
		Dir: t.TempDir(), TTL: time.Minute, Timeout: time.Second, Retry: 10 * time.Millisecond, Now: clock.Now, ClockBase: clock.Base(),
		Rand:   rand.New(rand.NewPCG(1, 2)),
		Breach: func(text string) { t.Error(text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*locker)
	limit := l.limit
	l.limit = 50 * time.Millisecond
	req := backends.Request{Lock: "L1", Owner: "o", TTL: time.Minute}
	if _, err := l.TryAcquire(t.Context(), req); !errors.Is(err, errNoTime) {
		t.Fatalf("the first attempt: %v", err)
	}
	l.limit = limit
	lease, err := l.Acquire(t.Context(), req) // waits for as long as it takes
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lease.Release(t.Context()), l.Close()); err != nil {
		t.Error(err)
	}
}

// The adapter of each client may be of another version; else they are what the first says.
func TestClientsDiffer(t *testing.T) {
	t.Parallel()
	if own, differ := of([]string{"p", "v-{client}"}, "c2"); !differ || own[1] != "v-c2" {
		t.Errorf("%q, %v", own, differ)
	}
	about := func(version, ends string) string {
		return `{"protocol":1,"name":"n","version":"` + version + `","ends":"` + ends + `"}`
	}
	script := `read l <&$LOCKSTORM_IN; printf '{"id":1,"answer":"ok","about":%s}\n' "$1" >&$LOCKSTORM_OUT
		read l <&$LOCKSTORM_IN; echo '{"id":2,"answer":"ok"}' >&$LOCKSTORM_OUT; cat <&$LOCKSTORM_IN >/dev/null`
	clock := history.NewClock()
	for said, want := range map[string]bool{
		about("{client}", "never"): true, about("1", "never"): true, about("1", "{client}"): false,
		about("1", `never","servers":[{"name":"s-1","command":["{client}"]}],"doc":"`): true,
	} {
		argv := []string{"/bin/sh", "-c", script, "sh", said}
		d, err := Describe(argv)
		if err != nil {
			t.Fatal(err)
		}
		l, err := open(t.Context(), d, argv, backends.Env{
			Client: "c2", Dir: t.TempDir(), Now: clock.Now, ClockBase: clock.Base(), Rand: rand.New(rand.NewPCG(1, 2)),
			Breach: func(text string) { t.Error(text) },
		})
		if (err == nil) != want {
			t.Errorf("%s: %v", said, err)
		}
		if l != nil {
			l.Close() //nolint:errcheck // it answers no more than that
		}
	}
}
