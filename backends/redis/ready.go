package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/sockets"
)

// ready waits until the server's own process answers: an answer from another server that took
// the port does not count.
func ready(ctx context.Context, addr string, pid int) error {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // a probe
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "+PONG") {
		return fmt.Errorf("the server answers PING with %q instead of PONG", strings.TrimSpace(line))
	}
	return sockets.Own(pid, addr)
}
