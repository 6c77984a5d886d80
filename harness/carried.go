package harness

import (
	"context"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/nemesis/link"
	"github.com/lockstorm/lockstorm/points"
)

// carried waits for the nth message of a client from now on, to a server or from one, and keeps it on its way.
func (s *session) carried(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	c := &carriage{s: s, nth: max(a.Nth, 1), point: a.Point, seen: map[string]int{}, hit: make(chan *nemesis.Hit, 1)}
	stop := s.net.Watch(link.Watch{
		Of: func(p link.Pair) bool {
			return p.To != history.PartyRegister && (len(a.Clients) == 0 || slices.Contains(a.Clients, p.From))
		},
		Replies: a.Point == points.Reply, Passing: c.passing,
	})
	defer stop()
	if a.Armed != nil {
		a.Armed()
	}
	select {
	case hit := <-c.hit:
		return hit, nil
	case <-ctx.Done():
	}
	c.over()
	select {
	case hit := <-c.hit: // it came at the last moment
		hit.Go()
	default:
	}
	return nil, ctx.Err()
}

// carriage counts the messages of each client. The first one that is the nth stands; all others go on.
type carriage struct {
	s     *session
	nth   int
	point string
	hit   chan *nemesis.Hit

	mu   sync.Mutex
	seen map[string]int
	done bool
}

func (c *carriage) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

func (c *carriage) passing(p link.Pair) {
	free := make(chan struct{})
	if c.stands(p, sync.OnceFunc(func() { close(free) })) {
		<-free
	}
}

func (c *carriage) stands(p link.Pair, letGo func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return false
	}
	living := c.s.living()
	i := slices.IndexFunc(living, func(l *client) bool { return l.name == p.From })
	if i < 0 {
		return false // of a server, or of a client that is being replaced
	}
	if c.seen[p.From]++; c.seen[p.From] < c.nth {
		return false
	}
	c.done = true
	c.hit <- &nemesis.Hit{Client: living[i], Point: c.point, Nodes: []string{p.To}, Go: letGo}
	return true
}
