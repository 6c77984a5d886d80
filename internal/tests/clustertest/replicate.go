package clustertest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	tellLimit  = time.Second           // for a follower to take a change
	againAfter = 10 * time.Millisecond // a replica calls its leader again
)

// follower is a replica as its leader sees it.
type follower struct {
	conn  net.Conn
	acked int64
}

// tell sends a change. A follower that does not take it is lost when its connection ends.
func (f *follower) tell(seq int64, change string, args ...string) {
	f.conn.SetWriteDeadline(time.Now().Add(tellLimit)) //nolint:errcheck // see above
	fmt.Fprintln(f.conn, seq, strings.Join(append([]string{change}, args...), " "))
}

// feed tells a replica all that there is, and then every change, until its connection ends.
func (s *store) feed(c net.Conn) {
	f := &follower{conn: c, acked: -1}
	s.mu.Lock()
	var all []string
	for k, owner := range s.keys {
		all = append(all, k+"="+owner)
	}
	f.tell(s.seq, "ALL", all...)
	s.followers[f] = struct{}{}
	s.mu.Unlock()
	acks := bufio.NewScanner(c)
	for acks.Scan() {
		if n, err := strconv.ParseInt(acks.Text(), 10, 64); err == nil {
			s.mu.Lock()
			f.acked = n
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	delete(s.followers, f)
	s.mu.Unlock()
}

// inSync is how many followers have all; the caller holds the lock.
func (s *store) inSync() (n int) {
	for f := range s.followers {
		if f.acked == s.seq {
			n++
		}
	}
	return n
}

// follow begins to follow; the caller holds the lock or is the only one.
func (s *store) follow(leader string, epoch int) {
	following, cancel := context.WithCancel(s.ctx)
	s.leader, s.epoch, s.unfollow = leader, epoch, cancel
	s.wg.Go(func() {
		for following.Err() == nil {
			s.listen(following, leader)
			select {
			case <-following.Done():
			case <-time.After(againAfter):
			}
		}
	})
}

// listen follows for as long as the connection lasts.
func (s *store) listen(ctx context.Context, leader string) {
	dialling, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	c, err := dialFrom(dialling, s.source, leader)
	if err != nil {
		return // it is called again
	}
	defer c.Close()                                      //nolint:errcheck // the leader may have closed it first
	stop := context.AfterFunc(ctx, func() { c.Close() }) //nolint:errcheck // as above
	defer stop()
	fmt.Fprintln(c, "REPLICATE")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		seq, text, _ := strings.Cut(lines.Text(), " ")
		s.hear(ctx, seq, strings.Fields(text))
		fmt.Fprintln(c, seq)
	}
}

// hear takes a change over, unless it was promoted meanwhile.
func (s *store) hear(ctx context.Context, seq string, words []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil || len(words) == 0 || ctx.Err() != nil {
		return
	}
	s.seq = n
	if words[0] != "ALL" {
		s.change(words[0], words[1:])
		return
	}
	clear(s.keys)
	for _, pair := range words[1:] {
		k, owner, _ := strings.Cut(pair, "=")
		s.keys[k] = owner
	}
}
