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
)

// What `srvr` calls them.
const (
	modeLeader     = "leader"
	modeStandalone = "standalone"
)

// admin asks a server past all links, by the words of four letters that it answers at its client
// port, and as a client of its own.
type admin struct {
	addr func() string
	cluster.Voter
}

func newAdmin(addr func() string) any {
	return admin{addr, func(ctx context.Context) (cluster.Standing, error) { return status(ctx, addr()) }}
}

var (
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

// status reads `srvr`: what the server says of itself. The term is the epoch of its last change: each leader has one of its own.
func status(ctx context.Context, addr string) (s cluster.Standing, err error) {
	said, err := ask(ctx, addr, "srvr")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(said) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "Mode":
			s.Leads, s.Led = value == modeLeader || value == modeStandalone, value != ""
		case "Zxid":
			zxid, err := strconv.ParseInt(strings.TrimPrefix(value, "0x"), 16, 64)
			if err != nil {
				return s, fmt.Errorf("zxid %q: %w", value, err)
			}
			s.Term = zxid >> 32
		}
	}
	return s, nil
}
