package tap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/backends"
)

// Fate is what is known of a request from its sends alone.
type Fate int

// The fates of a request.
const (
	Unsent  Fate = iota // it never left, or a server said that it did not carry it out
	Refused             // carried out, and answered with a nil or a 0
	Done                // carried out
	Lost                // it left, and no answer tells what came of it
)

// notDone are the error answers by which a server says that it did not carry a command out,
// whatever it was: it will not do so later.
var notDone = []string{
	"READONLY ", "LOADING ", "MASTERDOWN ", "NOREPLICAS ", "OOM ", "NOSCRIPT ", "MOVED ", "ASK ",
	"CLUSTERDOWN ", "NOAUTH ", "WRONGPASS ",
}

// NotDone reports whether an error answer is one of these.
func NotDone(text string) bool {
	return slices.ContainsFunc(notDone, func(p string) bool { return strings.HasPrefix(text, p) })
}

// Fate of one send.
func (s Send) Fate() Fate {
	switch a := s.Answer; {
	case a.Kind == 0:
		return Lost
	case a.Kind == '-':
		if NotDone(a.Text) {
			return Unsent
		}
		return Lost
	case a.Kind == '_', a.Kind == ':' && (a.Text == "0" || strings.HasPrefix(a.Text, "-")), a.Kind == '#' && a.Text == "f":
		return Refused
	}
	return Done
}

// Fate of all sends together: of a request that was carried out once, what happened then may
// be undone later, but what was lost may still happen.
func (tr *Trail) Fate(is func(Send) bool) Fate {
	fate := Unsent
	for _, s := range tr.Sends() {
		if is == nil || is(s) {
			fate = max(fate, s.Fate())
		}
	}
	if tr.Blind() {
		return Lost
	}
	return fate
}

// Certain is an error, or a refusal, of a library, as far as what was sent bears it out: a
// refusal where the server refused every send, [backends.ErrNotSent] where it carried out none,
// else one of unknown outcome, which says what was seen. It is for requests that go to one
// server at a time.
func (tr *Trail) Certain(err, refusal error, is func(Send) bool) error {
	switch tr.Fate(is) {
	case Unsent:
		return fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	case Refused:
		return fmt.Errorf("%w: %w", refusal, err)
	}
	return fmt.Errorf("%v: %s", err, tr.text(is)) //nolint:errorlint // what it says is not certain, so that it is hidden on purpose
}

// Granted is when the request left that was carried out last; where none was, when the last one
// left. It is 0 where none did.
func (tr *Trail) Granted(is func(Send) bool) (left int64) {
	done := false
	for _, s := range tr.Sends() {
		if is != nil && !is(s) {
			continue
		}
		if yes := s.Fate() == Done; yes || !done {
			left, done = s.Left, done || yes
		}
	}
	return left
}

// text says how often a request left and what came back.
func (tr *Trail) text(is func(Send) bool) string {
	n, lost := 0, 0
	for _, s := range tr.Sends() {
		if is == nil || is(s) {
			n++
			if s.Answer.Kind == 0 {
				lost++
			}
		}
	}
	return fmt.Sprintf("requests that the client sent: %d, requests that got no answer: %d", n, lost)
}
