package adapter

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// piped is an adapter that the test plays.
func piped(t *testing.T) (p *program, theirs *os.File) {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, theirIn) //nolint:errcheck // until it is closed
	p = &program{path: "adapter", conn: newConn(in, out, func() int64 { return 0 }, func(line, int64) error { return nil })}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), theirOut.Close()); err != nil {
			t.Error(err)
		}
		<-p.ended
	})
	return p, theirOut
}

// An adapter that says what it prepares is waited for longer.
func TestPreparing(t *testing.T) {
	p, theirs := piped(t)
	limit, got := make(chan time.Time, 1), make(chan answer, 1)
	go func() { got <- p.about(limit) }()
	for range 2 { // there is room for the second once the first was taken
		p.prepares <- "100 packages are compiled"
	}
	limit <- time.Now() // its minute is over
	if _, err := theirs.WriteString(`{"notice":"preparing","message":"200"}` + "\n" + `{"id":1,"answer":"ok"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	if a := <-got; a.err != nil || a.Answer != ansOK {
		t.Errorf("%q, %v", a.Answer, a.err)
	}
	if p.ask(request{Op: opPing}); !isBreach(p.preparing("more")) { //nolint:errcheck // whether it was sent
		t.Error("after its description it may prepare on")
	}
}

// One that says nothing is not.
func TestNothingPrepared(t *testing.T) {
	p, _ := piped(t)
	limit := make(chan time.Time, 1)
	limit <- time.Now()
	if a := p.about(limit); !errors.Is(a.err, errNoTime) {
		t.Errorf("%q, %v", a.Answer, a.err)
	}
}
