package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// ready asks the server for its process id: an answer from another server that took
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
	if _, err := fmt.Fprint(conn, "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n"); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(line, "+PONG") {
		return fmt.Errorf("answers %q to PING", strings.TrimSpace(line))
	}
	return sameProcess(r, pid)
}

func sameProcess(r *bufio.Reader, pid int) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(head, "$") {
		return nil // the embedded server has no INFO server: nothing to compare
	}
	size, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	if err != nil {
		return err
	}
	for read := 0; read < size; {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		read += len(line)
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok && id != strconv.Itoa(pid) {
			return fmt.Errorf("process %s answers, not %d", id, pid)
		}
	}
	return nil
}
