package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

func lostReply() nemesis.Spec {
	return nemesis.Spec{
		Name: "lost-reply", Doc: "lets a server carry out a request, then drops its answer and closes the connection; never an " +
			"answer that refuses",
		Notes:  "The client isn't stopped at `at`: the next answer that is no refusal is dropped.",
		Proven: "An answer was dropped and its connection closed; the record quotes it.",
		End:    "Later answers pass; the client must reconnect.",
		Family: history.FamilyLink, Whom: nemesis.ClientsAndNodes, Links: nemesis.ToServers, Strikes: strikeReply,
		Fault: fault{canLostReply, injectLostReply}, Params: onLinks("1.5ttl", "1ttl"),
	}
}

// strikeReply loses the answer to an acquire, then to a release, then any.
func strikeReply(k int, _ []string) string {
	return []string{history.AtBeforeAcquire, history.AtReleasing, history.AtRandom}[k%3]
}

// canLostReply says whether there is a server, and whether its refusals are known.
func canLostReply(s nemesis.Setting) error {
	return cmp.Or(needsServer(s), lack(s.Answers,
		"this fault drops the next answer that is not a refusal, but for topology %s lockstorm does not "+
			"know which answers are refusals", s.Topology))
}

// injectLostReply lets a server do what it is asked for and drops its answer:
//
//	client --take it--> server (done) --OK--> X   client: connection closed, outcome unknown
//
// It lies in wait on every link between the clients and the nodes, lets the client
// that stands at the point go, and returns when an answer was lost.
func injectLostReply(ctx context.Context, w nemesis.World, t nemesis.Target) (nemesis.Effect, error) {
	var b broken
	before := w.Now() // nothing was lost yet
	traps, err := b.layTraps(w, t)
	if err != nil {
		return b.effect(), err
	}
	if t.Hit != nil {
		t.Hit.Go()
	}
	limited, cancel := context.WithTimeout(ctx, max(t.For, w.TTL()))
	defer cancel()
	e := b.effect()
	err = nemesis.Until(limited, func() (bool, error) {
		e.Began, before = before, w.Now()
		for _, trap := range traps {
			if text := trap.Lost(); text != "" {
				e.Proof = fmt.Sprintf("lockstorm dropped %s on the link %s, and closed the connection", answer(text), trap.link)
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		e.Began = 0
		return e, errors.New("lost-reply found no answer to drop: until the time limit the servers sent only refusals, or no " +
			"answer at all")
	}
	return e, nil
}

// answer is what was dropped, as far as a person can read it.
func answer(text string) string {
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return fmt.Sprintf("an answer of %d bytes", len(text))
		}
	}
	return fmt.Sprintf("the answer %.60q", text) // its beginning
}

// trap is a link that loses its next answer.
type trap struct {
	*link.Applied
	link *link.Link
}

func (b *broken) layTraps(w nemesis.World, t nemesis.Target) (traps []trap, err error) {
	for _, n := range t.Nodes {
		a, ok := nemesis.As[nemesis.Answerer](n)
		if !ok || a.Refusal() == nil {
			return nil, fmt.Errorf("lost-reply cannot act on server %s, whose refusals lockstorm cannot recognize: choose "+
				"another fault", n.Name())
		}
		for _, c := range t.Clients {
			l := w.Net().Link(c.Name(), n.Name())
			if err := b.apply(l, "drops the next answer", func() (*link.Applied, error) {
				set, err := l.LoseReply(a.Refusal())
				traps = append(traps, trap{set, l})
				return set, err
			}); err != nil {
				return nil, err
			}
		}
	}
	return traps, nil
}
