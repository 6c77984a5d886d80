package harness

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/link"
	"github.com/lockstorm/lockstorm/nemesis"
)

// carried waits for the nth message of a client from now on, to a server or from one, and keeps it on its way.
func (s *session) carried(ctx context.Context, a nemesis.Arm) (*nemesis.Hit, error) {
	c := &carriage{
		s: s, nth: max(a.Nth, 1), point: a.Point, text: bytes.ToLower([]byte(a.Message)), seen: map[string]int{},
		asked: map[any]bool{}, hit: make(chan *nemesis.Hit, 1),
	}
	stop := s.net.Watch(link.Watch{
		Of: func(p link.Pair) bool {
			return p.To != history.PartyRegister && (len(a.Clients) == 0 || slices.Contains(a.Clients, p.From))
		},
		Passing: c.passing,
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

// carriage counts the messages of each client: requests, or answers. The first one that is the nth stands; all others go on. With
// a text only requests that contain it count, or the first answer after each of them on its connection.
type carriage struct {
	s     *session
	nth   int
	point string
	text  []byte // in lower case; empty: every message counts
	hit   chan *nemesis.Hit

	mu    sync.Mutex
	seen  map[string]int
	asked map[any]bool // connections on which the answer to a request with the text is to come
	done  bool
}

func (c *carriage) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
}

// counts reports whether a message is one of those that are counted.
func (c *carriage) counts(m link.Message) bool {
	replies := c.point == history.AtReply
	if len(c.text) == 0 {
		return m.Reply == replies
	}
	if m.Reply {
		asked := c.asked[m.Connection]
		delete(c.asked, m.Connection)
		return asked
	}
	has := hasWord(bytes.ToLower(m.Data), c.text)
	if has && replies {
		c.asked[m.Connection] = true
	}
	return has && !replies
}

// hasWord reports whether a text is in data as a word, or as words: "set" is not in "setinfo".
func hasWord(data, text []byte) bool {
	for from := 0; ; {
		i := bytes.Index(data[from:], text)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(text)
		if (begin == 0 || !inWord(data[begin-1]) || !inWord(text[0])) &&
			(end == len(data) || !inWord(data[end]) || !inWord(text[len(text)-1])) {
			return true
		}
		from = begin + 1
	}
}

func inWord(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' }

func (c *carriage) passing(m link.Message) {
	free := make(chan struct{})
	if c.stands(m, sync.OnceFunc(func() { close(free) })) {
		<-free
	}
}

func (c *carriage) stands(m link.Message, letGo func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || !c.counts(m) {
		return false
	}
	p := m.Pair
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
