package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Names of the parameters that say what is done to links.
const (
	paramMode    = "mode"
	paramWay     = "way"
	paramLatency = "latency"
	paramJitter  = "jitter"
)

// What a link can do.
const (
	modeCut       = "cut"
	modeBlackHole = "blackhole"
	modeHold      = "hold"
	modeLatency   = "latency"
	modeLoss      = "loss"
)

// modeParams are those of faults that break links in a way that the user chooses.
func modeParams() []catalog.Param {
	return []catalog.Param{
		{Name: paramMode, Default: modeCut, Doc: "cut: connections closed, new ones refused; blackhole: open, data dropped silently; " +
			"loss: packets lost, sent again; hold: data held back, delivered at the end; latency: data " +
			"delayed", Choices: []string{modeCut, modeBlackHole, modeLoss, modeHold, modeLatency}},
		{Name: paramWay, Default: string(link.Both), Doc: "`both`, `to` (only requests) or `from` (only answers); cut and loss " +
			"always break both", Choices: []string{string(link.Both), string(link.To), string(link.From)}},
		{Name: paramLatency, Default: "0.2ttl", Doc: "delay for mode=latency"},
		{Name: paramJitter, Default: "0.1ttl", Doc: "largest random difference from `latency`, up or down"},
	}
}

// checkMode reads them.
func checkMode(own catalog.Values, in nemesis.Input) error {
	if err := canLose(own, in.Setting); err != nil {
		return err
	}
	latency, err := own.Length(paramLatency, in.TTL)
	if err != nil {
		return err
	}
	if latency < time.Millisecond {
		return fmt.Errorf("%s=%s is too short: the minimum is 1 ms", paramLatency, own[paramLatency])
	}
	_, err = own.Length(paramJitter, in.TTL)
	return err
}

// canLose says why packets cannot be lost here.
func canLose(own catalog.Values, s nemesis.Setting) error {
	return lack(own[paramMode] != modeLoss || s.NoLoss == "", "%s=%s: %s", paramMode, modeLoss, s.NoLoss)
}

// broken is links that a fault has changed, and how to mend them.
type broken struct {
	mends  []func(ctx context.Context) error
	proofs []string
	losses int   // links that lose packets
	lost   int64 // packets, as far as they were mended
	began  int64 // when the first one was about to be broken; 0: at once
}

// breakAll does to links what the parameters say, and proves it.
func (b *broken) breakAll(ctx context.Context, links []*link.Link, p catalog.Values, ttl time.Duration) error {
	for _, l := range links {
		if err := b.breakLink(ctx, l, p, ttl); err != nil {
			return err
		}
	}
	return nil
}

func (b *broken) breakLink(ctx context.Context, l *link.Link, p catalog.Values, ttl time.Duration) error {
	way := link.Way(p[paramWay])
	switch p[paramMode] {
	case modeBlackHole:
		return b.apply(l, "drops all data", func() (*link.Applied, error) { return l.BlackHole(way) })
	case modeHold:
		return b.apply(l, "holds all data back", func() (*link.Applied, error) { return l.Hold(way) })
	case modeLatency:
		latency, err := p.Length(paramLatency, ttl)
		if err != nil {
			return err
		}
		jitter, err := p.Length(paramJitter, ttl)
		if err != nil {
			return err
		}
		return b.apply(l, fmt.Sprintf("delays all data by %v +- %v", latency, jitter),
			func() (*link.Applied, error) { return l.Slow(way, latency, jitter) })
	case modeLoss:
		return b.lose(ctx, l)
	default:
		return b.cut(ctx, l)
	}
}

func (b *broken) lose(ctx context.Context, l *link.Link) error {
	x, err := l.Lose()
	b.losses++
	b.mends = append(b.mends, func(context.Context) error {
		n, err := x.Remove()
		b.lost += n
		return err
	})
	if err != nil {
		return err
	}
	proof, err := x.Prove(ctx)
	b.proofs = append(b.proofs, fmt.Sprintf("%s %s", l, proof))
	return err
}

func (b *broken) cut(ctx context.Context, links ...*link.Link) error {
	for _, l := range links {
		closed, mend, err := l.Cut()
		b.mends = append(b.mends, func(context.Context) error { return mend() })
		if err != nil {
			return err
		}
		proof, err := l.ProveCut(ctx)
		b.proofs = append(b.proofs, fmt.Sprintf("%s: %s (number of connections that lockstorm closed: %d)", l, proof, closed))
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *broken) apply(l *link.Link, what string, apply func() (*link.Applied, error)) error {
	a, err := apply()
	b.mends = append(b.mends, a.Remove)
	if err != nil {
		return err
	}
	b.proofs = append(b.proofs, fmt.Sprintf("%s %s, on every open connection (%d) and on every new connection", l, what, l.Open()))
	return nil
}

// effect is the fault as the runner wants it.
func (b *broken) effect() nemesis.Effect {
	return nemesis.Effect{Proof: b.proof(), Heal: b.mend, Began: b.began}
}

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
	text := fmt.Sprintf("links restored: %d", len(b.mends))
	for i := len(b.mends) - 1; i >= 0; i-- {
		switch err := b.mends[i](ctx); {
		case errors.Is(err, link.ErrReplaced):
			text += "; " + err.Error()
		case err != nil:
			errs = append(errs, err)
		}
	}
	if b.losses > 0 {
		text += fmt.Sprintf("; packets lost: %d", b.lost)
	}
	return text, errors.Join(errs...)
}

// onLinks are the parameters of faults of links between clients and servers.
func onLinks(length, every string, own ...catalog.Param) []catalog.Param {
	return append(append(nemesis.ClientParams(length, every), nemesis.NodesParam(nemesis.RoleAll)), own...)
}
