package nemesis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// broken is links that a fault has changed, and how to mend them.
type broken struct {
	mends  []func(ctx context.Context) error
	proofs []string
}

// breakLink does to a link what the parameters say, and proves it.
func (b *broken) breakLink(ctx context.Context, l *link.Link, p catalog.Values, ttl time.Duration) error {
	way := link.Way(p[paramWay])
	switch p[paramMode] {
	case modeBlackHole:
		return b.apply(l, "swallows everything", func() (*link.Applied, error) { return l.BlackHole(way) })
	case modeHold:
		return b.apply(l, "keeps everything", func() (*link.Applied, error) { return l.Hold(way) })
	case modeLatency:
		latency, err := p.Length(paramLatency, ttl)
		if err != nil {
			return err
		}
		jitter, err := p.Length(paramJitter, ttl)
		if err != nil {
			return err
		}
		return b.apply(l, fmt.Sprintf("is slower by %v +- %v", latency, jitter), func() (*link.Applied, error) { return l.Slow(way, latency, jitter) })
	default:
		return b.cut(ctx, l)
	}
}

func (b *broken) cut(ctx context.Context, l *link.Link) error {
	closed, mend, err := l.Cut()
	b.mends = append(b.mends, func(context.Context) error { return mend() })
	if err != nil {
		return err
	}
	proof, err := l.ProveCut(ctx)
	b.proofs = append(b.proofs, fmt.Sprintf("%s: %d connections closed, %s", l, closed, proof))
	return err
}

func (b *broken) apply(l *link.Link, what string, apply func() (*link.Applied, error)) error {
	a, err := apply()
	b.mends = append(b.mends, a.Remove)
	if err != nil {
		return err
	}
	b.proofs = append(b.proofs, fmt.Sprintf("%s %s, on %d connections and every new one", l, what, l.Open()))
	return nil
}

// effect is the fault as the runner wants it.
func (b *broken) effect() Effect { return Effect{Proof: b.proof(), Heal: b.mend} }

// proof lists the links, as far as one can read.
func (b *broken) proof() string {
	const shown = 6
	if n := len(b.proofs); n > shown {
		return strings.Join(b.proofs[:shown], "; ") + fmt.Sprintf("; and %d more links", n-shown)
	}
	return strings.Join(b.proofs, "; ")
}

// mend mends every link, the last broken first. One that had to be replaced carries
// again: that is said and is no failure.
func (b *broken) mend(ctx context.Context) (string, error) {
	var errs []error
	text := fmt.Sprintf("%d links carry again", len(b.mends))
	for i := len(b.mends) - 1; i >= 0; i-- {
		switch err := b.mends[i](ctx); {
		case errors.Is(err, link.ErrReplaced):
			text += "; " + err.Error()
		case err != nil:
			errs = append(errs, err)
		}
	}
	return text, errors.Join(errs...)
}
