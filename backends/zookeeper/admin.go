package zookeeper

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// RoleLooking is the role of a server that has no leader.
const (
	RoleLooking = "looking" // it has no quorum and serves nobody
)

// What `srvr` calls them.
const (
	modeLeader     = "leader"
	modeStandalone = "standalone"
)

// admin asks a server past all links, by the words of four letters that it answers at its client
// port, and as a client of its own.
type admin struct{ addr func() string }

func newAdmin(addr func() string) any { return admin{addr} }

var (
	_ cluster.Roler         = admin{}
	_ cluster.Elector       = admin{}
	_ cluster.SessionEnder  = admin{}
	_ cluster.SessionFinder = admin{}
)

const adminTimeout = 500 * time.Millisecond // for one answer

// ask sends a word of four letters and returns the answer.
func ask(ctx context.Context, addr, word string) (string, error) {
	d := net.Dialer{Timeout: adminTimeout}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close() //nolint:errcheck // it was only asked
	if err := conn.SetDeadline(time.Now().Add(adminTimeout)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	said, err := io.ReadAll(io.LimitReader(conn, 1<<16))
	return string(said), err
}

// standing is what a server says of itself; with no mode it serves nobody.
type standing struct {
	mode  string
	epoch int64 // of its last change: each leader has one of its own
}

// status reads `srvr`.
func status(ctx context.Context, addr string) (s standing, err error) {
	said, err := ask(ctx, addr, "srvr")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(said) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "Mode":
			s.mode = value
		case "Zxid":
			zxid, err := strconv.ParseInt(strings.TrimPrefix(value, "0x"), 16, 64)
			if err != nil {
				return s, fmt.Errorf("zxid %q: %w", value, err)
			}
			s.epoch = zxid >> 32
		}
	}
	return s, nil
}

// Role is what the server says of itself.
func (a admin) Role(ctx context.Context) (string, error) {
	s, err := status(ctx, a.addr())
	switch {
	case err != nil:
		return "", err
	case s.mode == modeLeader || s.mode == modeStandalone:
		return history.RoleLeader, nil
	case s.mode == "":
		return RoleLooking, nil
	}
	return history.RoleFollower, nil
}

// Leads reports whether it says that it leads, and since which epoch.
func (a admin) Leads(ctx context.Context) (bool, int64, error) {
	s, err := status(ctx, a.addr())
	return s.mode == modeLeader || s.mode == modeStandalone, s.epoch, err
}
