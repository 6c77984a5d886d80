package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// store keeps keys with their owners; a master tells its followers of each change.
type store struct {
	ctx    context.Context //nolint:containedctx // of the process, which is the store
	source string
	wg     sync.WaitGroup

	mu        sync.Mutex
	keys      map[string]string
	full      bool // it drops what it has and takes nothing
	seq       int64
	epoch     int
	leader    string // whom it follows; empty: it is a master
	unfollow  context.CancelFunc
	followers map[*follower]struct{}
}

// runStore serves: ADDR SOURCE primary, or ADDR SOURCE following LEADER.
func runStore(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("a store needs its arguments in one of two forms: ADDR SOURCE primary, or ADDR SOURCE following LEADER")
	}
	s := &store{ctx: ctx, source: args[1], keys: map[string]string{}, followers: map[*follower]struct{}{}}
	if args[2] == flagFollowing {
		s.follow(args[3], 0)
	}
	defer s.wg.Wait()
	return serve(ctx, args[0], s.answer)
}

func (s *store) answer(c net.Conn, words []string) (string, bool) {
	switch words[0] {
	case "PID":
		return pid(), false
	case "CLOCK":
		return hostClock(), false
	case "REPLICATE":
		s.feed(c)
		return "", true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch words[0] {
	case "ROLE":
		return "+" + s.role(), false
	case "FOLLOWERS":
		return fmt.Sprintf("+%d", len(s.followers)), false
	case "INSYNC":
		return fmt.Sprintf("+%d", s.inSync()), false
	case "PROMOTE", "FOLLOW":
		return s.obey(words), false
	default:
		return s.data(words), false
	}
}

// data carries out what is asked of the keys; the caller holds the lock.
func (s *store) data(words []string) string {
	args := words[1:]
	switch {
	case words[0] == "HAS":
		return "+" + strings.Join(slices.DeleteFunc(args, func(k string) bool { return s.keys[k] == "" }), " ")
	case words[0] == "SETNX" && len(args) == 2:
		switch {
		case s.leader != "":
			return "-a replica takes no writes"
		case s.full:
			return "-full"
		case s.keys[args[0]] != "":
			return "-busy"
		}
		s.apply("SET", args...)
		return "+OK"
	case words[0] == "RELEASE" && len(args) == 2:
		if s.keys[args[0]] != args[1] {
			return "-not yours"
		}
		return fmt.Sprintf("+%d", s.drop(args[:1]))
	case words[0] == "DEL":
		return fmt.Sprintf("+%d", s.drop(args))
	case words[0] == "FLUSH":
		n := len(s.keys)
		s.apply("CLEAR")
		return fmt.Sprintf("+%d", n)
	case words[0] == "EVICT" && len(args) > 1:
		if s.full = s.drop(args[1:]) > 0; !s.full {
			return "-nothing to evict"
		}
		return fmt.Sprintf("+evicted %s (policy %s)", strings.Join(args[1:], ", "), args[0])
	case words[0] == "ROOM":
		s.full = false
		return "+OK"
	default:
		return unknown(words)
	}
}

// drop deletes keys and says how many there were.
func (s *store) drop(keys []string) (n int) {
	for _, k := range keys {
		if s.keys[k] != "" {
			n++
			s.apply("DEL", k)
		}
	}
	return n
}

// apply changes the keys, here and at the followers.
func (s *store) apply(change string, args ...string) {
	s.seq++
	s.change(change, args)
	for f := range s.followers {
		f.tell(s.seq, change, args...)
	}
}

func (s *store) change(change string, args []string) {
	switch change {
	case "SET":
		s.keys[args[0]] = args[1]
	case "DEL":
		delete(s.keys, args[0])
	case "CLEAR":
		clear(s.keys)
	}
}

// role is the role, its epoch, and whom a replica follows.
func (s *store) role() string {
	if s.leader != "" {
		return fmt.Sprintf("%s %d %s", history.RoleReplica, s.epoch, s.leader)
	}
	return fmt.Sprintf("%s %d", history.RoleMaster, s.epoch)
}

// obey carries out PROMOTE EPOCH and FOLLOW EPOCH LEADER, unless it knows of a later epoch.
func (s *store) obey(words []string) string {
	if len(words) < 2 {
		return unknown(words)
	}
	epoch, err := strconv.Atoi(words[1])
	if err != nil || epoch < s.epoch {
		return "-that was before"
	}
	if s.unfollow != nil {
		s.unfollow()
		s.unfollow, s.leader = nil, ""
	}
	s.epoch = epoch
	if words[0] == "FOLLOW" && len(words) == 3 {
		s.follow(words[2], epoch)
	}
	return "+OK"
}

// hostClock asks a program of the C library, which goes by a clock that was made to jump: a Go
// program, as this one, does not.
func hostClock() string {
	out, err := exec.Command("date", "+%s%N").Output()
	if err != nil {
		return "-" + err.Error()
	}
	return "+" + strings.TrimSpace(string(out))
}
