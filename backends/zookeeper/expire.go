package zookeeper

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// EndSession ends the session of a client: by a second connection with the same session, which is
// closed, as the server would do when it expires. The name of a lease is the id in hexadecimal.
func (a admin) EndSession(ctx context.Context, lease string) error {
	id, err := strconv.ParseUint(lease, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is not the id of a session: %w", lease, err)
	}
	d := net.Dialer{Timeout: adminTimeout}
	conn, err := d.DialContext(ctx, "tcp", a.addr())
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the session is closed by a request
	if err := conn.SetDeadline(time.Now().Add(2 * adminTimeout)); err != nil {
		return err
	}
	joined, err := exchange(conn, connectRequest(id))
	switch {
	case err != nil:
		return err
	case len(joined) < 16 || binary.BigEndian.Uint64(joined[8:]) == 0:
		return errors.New("the server no longer has this session")
	}
	_, err = exchange(conn, closeRequest())
	return err
}

// connection is how `cons` shows one that carries a session.
var connection = regexp.MustCompile(`(?m)^\s*/(\S+?)\[\d+\]\(.*\bsid=(0x[0-9a-f]+)`)

// SessionsFrom are the sessions of some connections, in the server's order.
func (a admin) SessionsFrom(ctx context.Context, addrs []string) (leases []string, err error) {
	said, err := ask(ctx, a.addr(), "cons")
	for _, m := range connection.FindAllStringSubmatch(said, -1) {
		if slices.Contains(addrs, m[1]) {
			leases = append(leases, m[2])
		}
	}
	return leases, err
}

// connectRequest asks to go on with a session.
//
//	int32 version | int64 last zxid | int32 time-out | int64 session | int32 length | password
func connectRequest(session uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(adminTimeout.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, session)
	p := password(session)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
}

const opClose = -11

func closeRequest() []byte {
	xid, op := int32(1), int32(opClose)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(xid)), uint32(op))
}

// exchange sends one frame and returns the next.
func exchange(conn net.Conn, frame []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, conn, int64(min(binary.BigEndian.Uint32(size[:]), 1<<16)))
	return b.Bytes(), err
}

// password is what a server gives out with a session: the first bytes of java.util.Random, seeded
// with the id and a constant of ZooKeeperServer. It keeps out accidents, not people.
func password(session uint64) []byte {
	const (
		secret     = 0xB3415C00
		multiplier = 0x5DEECE66D
		mask       = 1<<48 - 1
	)
	state := (session ^ secret ^ multiplier) & mask
	var p []byte
	for len(p) < 16 {
		state = (state*multiplier + 0xB) & mask
		p = binary.LittleEndian.AppendUint32(p, uint32(state>>16))
	}
	return p
}
