package contract

import (
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/backends"
)

// calls: what a backend says that its leases can do beside being released, they can.
func (b *bench) calls() {
	extends, asked := slices.Contains(b.spec.Calls, backends.CallExtend), slices.Contains(b.spec.Calls, backends.CallAsk)
	l := b.patient(1)[0]
	lease, _ := b.begin(l, "calls", "a")
	if extends {
		b.extended(lease)
	}
	if asked {
		b.asked(lease, true)
	}
	b.release(lease)
	if extends {
		if _, err := lease.(backends.Extender).Extend(b.ctx); !errors.Is(err, backends.ErrNotHeld) {
			b.Errorf("an extension of what was released: %v, want ErrNotHeld", err)
		}
	}
	if asked {
		b.asked(lease, false)
	}
}

// extended is extended once: its lease runs from then on.
func (b *bench) extended(lease backends.Lease) {
	ext, can := lease.(backends.Extender)
	if !can {
		b.Fatal("it says that it can be extended")
	}
	before := b.clock.Now()
	re, err := ext.Extend(b.ctx)
	if err != nil {
		b.Fatalf("extend: %v", err)
	}
	if re.Sent < before || re.Sent > b.clock.Now() || re.TTL != b.ttl || re.Deadline <= lease.Info().Deadline ||
		re.Deadline > re.Sent+b.ttl.Nanoseconds() {
		b.Errorf("extended %+v of %+v, called at %d", re, lease.Info(), before)
	}
}

func (b *bench) asked(lease backends.Lease, want bool) {
	asker, can := lease.(backends.Asker)
	if !can {
		b.Fatal("it says that it can be asked")
	}
	if held, err := asker.Held(b.ctx); err != nil || held != want {
		b.Errorf("held: %v (%v), want %v", held, err, want)
	}
}
