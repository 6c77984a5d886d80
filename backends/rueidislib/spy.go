package rueidislib

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/redis/rueidis"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/redis/tap"
)

// spy is a hook of rueidislock's client: it sees the scripts that the library runs and
// records when extensions left and what came back. A script is known by what it is given:
// a key, the value of the attempt, and the end of its validity in ms.
//
//	first call with a value: acquire; a later end: an extension; the script that deletes
type spy struct {
	env  backends.Env
	tap  *tap.Tap
	need int // keys that make a lock

	mu      sync.Mutex
	current *attempt            // the last one that began
	values  map[string]*attempt // by the library's value
}

func newSpy(env backends.Env, t *tap.Tap, need int) *spy {
	return &spy{env: env, tap: t, need: need, values: map[string]*attempt{}}
}

// build makes the client that the library uses.
func (s *spy) build(option rueidis.ClientOption) (rueidis.Client, error) {
	c, err := rueidis.NewClient(option)
	if err != nil {
		return nil, err
	}
	return &spiedClient{Client: c, spy: s}, nil
}

// begin notes that the next unknown value is of this attempt.
func (s *spy) begin(req backends.Request) *attempt {
	now := s.env.Now()
	a := &attempt{env: s.env, req: req, need: s.need, begun: now, sent: now, keys: map[string]*keyState{}, released: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = a
	return a
}

// latest is the try that began last.
func (s *spy) latest() *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// attemptOf finds the attempt of a value. The library makes one value an attempt, so an
// unknown one is that of the attempt that began last: one that waits makes several, of which the
// later count.
func (s *spy) attemptOf(value string) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.values[value]
	if a == nil && s.current != nil {
		a = s.current.next()
		s.current, s.values[value] = a, a
	}
	return a
}

// errNoScript is the answer after which the same is sent again, with the script's text.
var errNoScript = errors.New("the server does not know the script")

// deleteScript is the SHA-1 of the script by which rueidislock v1.0.79 deletes a key. An
// extension to the same end, after an invalidation, is given the same words.
const deleteScript = "9eb62214c9af87ae5f9a9f12bb4520281c0d2ae1"

func isDelete(words []string) bool {
	id := words[1]
	if words[0] == "EVAL" {
		id = fmt.Sprintf("%x", sha1.Sum([]byte(id))) //nolint:gosec // as above
	}
	return id == deleteScript
}

type spiedClient struct {
	rueidis.Client
	spy *spy
}

// Do looks at the command on its way, and at its answer.
func (c *spiedClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	words := slices.Clone(cmd.Commands())
	if len(words) != 6 || (words[0] != "EVALSHA" && words[0] != "EVAL") {
		return c.Client.Do(ctx, cmd)
	}
	key, value := words[3], words[4]
	end, err := strconv.ParseInt(words[5], 10, 64)
	if err != nil {
		return c.Client.Do(ctx, cmd)
	}
	a := c.spy.attemptOf(value)
	if a == nil {
		return c.Client.Do(ctx, cmd)
	}
	after, err := a.before(key, end, isDelete(words))
	if err != nil {
		return rueidis.NewErrorResult(err)
	}
	trail := c.spy.tap.Follow(value)
	defer trail.End()
	resp := c.Client.Do(ctx, cmd)
	if said, isReply := rueidis.IsRedisErr(resp.Error()); isReply && said.IsNoScript() {
		after(reply{err: errNoScript}) // the library sends the text next
		return resp
	}
	n, _ := resp.AsInt64() // an acquire answers OK, which is no number, and is not asked for one
	fate := trail.Fate(tap.OfKey(key))
	if err := resp.NonRedisError(); fate == tap.Unsent && !trail.Unconnected() &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		fate = tap.Lost // it may still be in the queue of a connection, and leave later
	}
	after(reply{n: n, err: resp.Error(), fate: fate})
	return resp
}
