package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Way is a direction of a link.
type Way string

// The directions, seen from who dialled.
const (
	Both Way = "both"
	To   Way = "to"   // requests
	From Way = "from" // answers
)

func (w Way) streams() []string {
	switch w {
	case To:
		return []string{"upstream"}
	case From:
		return []string{"downstream"}
	default:
		return []string{"upstream", "downstream"}
	}
}

// Applied is a toxic at work on a link.
type Applied struct {
	link   *Link
	names  []string
	toxics []*toxics.ToxicWrapper
	closes bool  // its connections are closed when it goes: what is under way is lost
	teller int64 // entry of refusals; 0: none
}

// apply adds a toxic of the kind, in each direction of the way.
func (l *Link) apply(kind string, way Way, attributes map[string]any, closes bool) (*Applied, error) {
	l.mu.Lock()
	t := l.toxics
	l.mu.Unlock()
	a := &Applied{link: l, closes: closes}
	for _, s := range way.streams() {
		name := fmt.Sprintf("%s-%d", kind, serial.Add(1))
		text, err := json.Marshal(map[string]any{"name": name, "type": kind, "stream": s, "toxicity": 1, "attributes": attributes})
		if err != nil {
			return a, err
		}
		w, err := t.Toxics.AddToxicJson(bytes.NewReader(text))
		if err != nil {
			return a, fmt.Errorf("link %v: %w", l.Pair, err)
		}
		a.names, a.toxics = append(a.names, name), append(a.toxics, w)
	}
	return a, nil
}

// BlackHole swallows everything; connections stay open and silent until it is removed,
// which closes them.
func (l *Link) BlackHole(way Way) (*Applied, error) {
	return l.apply("timeout", way, map[string]any{"timeout": 0}, true)
}

// Slow delays everything by latency, give or take jitter.
func (l *Link) Slow(way Way, latency, jitter time.Duration) (*Applied, error) {
	return l.apply("latency", way, map[string]any{"latency": latency.Milliseconds(), "jitter": jitter.Milliseconds()}, false)
}

// Hold keeps everything back; it is delivered, late and in order, when it is removed.
func (l *Link) Hold(way Way) (*Applied, error) {
	return l.apply(holdToxic, way, map[string]any{}, false)
}

// LoseReply swallows the next answer that is no refusal and closes its connection: what
// was asked for was done, and nobody knows. What a refusal looks like, the store knows.
func (l *Link) LoseReply(refusal func(answer []byte) bool) (*Applied, error) {
	id := serial.Add(1)
	refusals.Store(id, refusal)
	a, err := l.apply(lostReplyToxic, From, map[string]any{"refusals": id}, false)
	a.teller = id
	return a, err
}

// Held is how many bytes a Hold keeps back now.
func (a *Applied) Held() int64 {
	var n int64
	for _, w := range a.toxics {
		if h, ok := w.Toxic.(*hold); ok {
			n += h.held.Load()
		}
	}
	return n
}

// Lost is the answer that a LoseReply swallowed; empty before.
func (a *Applied) Lost() string {
	for _, w := range a.toxics {
		if r, ok := w.Toxic.(*lostReply); ok {
			if text := r.lost.Load(); text != nil {
				return *text
			}
		}
	}
	return ""
}

// ErrReplaced says that a link did not heal and was replaced by a new one.
var ErrReplaced = errors.New("lockstorm could not restore a link, and replaced it by a new link: the connections of the old " +
	"link were closed")

// Remove ends the toxic. A link that will not let it go within a few seconds is
// replaced: its connections are closed, and the error is ErrReplaced.
func (a *Applied) Remove(ctx context.Context) error {
	l := a.link
	defer refusals.Delete(a.teller)
	if a.closes {
		l.Reset()
	}
	ctx, cancel := context.WithTimeout(ctx, healLimit)
	defer cancel()
	l.mu.Lock()
	t := l.toxics
	l.mu.Unlock()
	done := make(chan error, 1)
	go func() { // ends at the latest when the link's connections are closed
		var errs []error
		for _, name := range a.names {
			if err := t.Toxics.RemoveToxic(ctx, name); err != nil && !errors.Is(err, toxiproxy.ErrToxicNotFound) {
				errs = append(errs, err)
			}
		}
		done <- errors.Join(errs...)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	if l.toxics == t {
		l.toxics = l.newToxics()
	}
	l.mu.Unlock()
	l.Reset()
	// The ends of a closed pipe neither block nor fail (see end), so this comes.
	return errors.Join(fmt.Errorf("link %v: %w", l.Pair, ErrReplaced), <-done)
}
