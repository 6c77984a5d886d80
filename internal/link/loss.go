package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socket filter that keeps nothing: whatever arrives, the kernel drops it before TCP sees it, and
// nobody acknowledges it.
//
//	client  --data--> X (our end)          --data-->...--data--> server: sent again, until it is
//	server  --data--> X (our other end)                          acknowledged or given up
var keepsNothing = []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}

// setLossy puts the filter on a socket, or takes it off.
func setLossy(fd int, on bool) error {
	if on {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &keepsNothing[0]})
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil // it had none
}

// CanLose is nil where this host lets us lose packets.
func CanLose() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = setLossy(fd, true)
	return errors.Join(err, unix.Close(fd))
}

// ofSocket does something with a socket, as long as it is open.
func ofSocket(c any, do func(fd int) error) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return fmt.Errorf("a connection of type %T has no socket, so lockstorm cannot make it lose packets", c)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var said error
	if err := raw.Control(func(fd uintptr) { said = do(int(fd)) }); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return said
}

func lossy(c any, on bool) error {
	return ofSocket(c, func(fd int) error { return setLossy(fd, on) })
}

// dropped is how many packets the kernel has dropped at a socket since it is open.
func dropped(c any) (n int64) {
	var info [unix.SK_MEMINFO_DROPS + 1]uint32
	ofSocket(c, func(fd int) error { //nolint:errcheck // nothing can be told of one that is closed
		size := uint32(unsafe.Sizeof(info))
		_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0) //nolint:gosec // there is no safe way to ask for it
		if failed == 0 {
			n = int64(info[unix.SK_MEMINFO_DROPS])
		}
		return nil
	})
	return n
}

// Loss is a link whose packets are lost.
type Loss struct {
	link   *Link
	before map[any]int64 // what its sockets had dropped
	mend   func() (int64, error)
}

// Lose has every packet lost that arrives at the link, from either side, on the connections that there
// are and on new ones, until Remove is called, once for each Lose. Connections do not end by it: both
// sides send again what nobody acknowledges, and give up when they would. What the link itself has
// taken before still goes on its way; callers whom it has not served yet are closed at the end.
func (l *Link) Lose() (*Loss, error) {
	x := &Loss{link: l, before: map[any]int64{}}
	x.mend = sync.OnceValues(x.remove)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.losses++; l.losses == 1 {
		l.carries, l.hasLost = make(chan struct{}), true
	}
	for _, s := range l.sockets() {
		x.before[s] = dropped(s)
	}
	return x, l.setLossy()
}

// Remove lets the link carry again, if nobody else has it lose packets, and says how many were dropped.
func (x *Loss) Remove() (dropped int64, err error) { return x.mend() }

func (x *Loss) remove() (n int64, err error) {
	l := x.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sockets() {
		n += max(0, dropped(s)-x.before[s]) // of one that has been closed nothing can be told
	}
	if l.losses--; l.losses > 0 {
		return n, nil
	}
	close(l.carries)
	return n, l.setLossy()
}

// sockets are those that the link has now; the caller holds its lock.
func (l *Link) sockets() []any {
	var out []any
	if l.front != nil {
		if s := l.front.socket(); s != nil {
			out = append(out, s)
		}
	}
	for p := range l.pipes {
		out = append(out, p.client.Conn, p.server.Conn)
	}
	return out
}

// setLossy has the sockets of the link lose packets, or no more; the caller holds its lock.
func (l *Link) setLossy() error {
	on := l.losses > 0
	var errs []error
	if l.front != nil {
		errs = append(errs, l.front.lose(on))
	}
	for p := range l.pipes {
		errs = append(errs, p.lose(on))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("link %v: %w", l.Pair, err)
	}
	return nil
}

func (p *pipe) lose(on bool) error {
	return errors.Join(lossy(p.client.Conn, on), lossy(p.server.Conn, on))
}

// admit reports whether a caller may talk. While packets of the link are lost, a caller at an address that it shares
// with others gets through to it, and nothing that it says does: it is kept waiting, and must call again in the end,
// for by then it may have given up, and what it said must not arrive after that.
func (l *Link) admit(client net.Conn, gone <-chan struct{}) bool {
	l.mu.Lock()
	lossless, carries := l.losses == 0, l.carries
	cut := l.cuts > 0
	l.mu.Unlock()
	switch {
	case cut:
		return false
	case lossless:
		return true
	}
	if lossy(client, true) == nil {
		select {
		case <-carries:
		case <-gone:
		}
	}
	return false
}

// Prove shows that packets are lost: where the link has an address of its own, that of somebody who
// dials it is dropped.
func (x *Loss) Prove(ctx context.Context) (string, error) {
	l := x.link
	l.mu.Lock()
	f, open := l.front, len(l.pipes)
	l.mu.Unlock()
	text := fmt.Sprintf("loses every packet, on every open connection (%d) and on every new connection", open)
	if f == nil {
		return text, nil
	}
	s := f.socket()
	if s == nil {
		return text + " (the link is also cut)", nil
	}
	before := dropped(s)
	ctx, cancel := context.WithTimeout(ctx, proveLimit)
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", f.addr)
		if err == nil {
			c.Close() //nolint:errcheck // it should not have been there
		}
		answered <- err
	}()
	for dropped(s) == before {
		select {
		case err := <-answered:
			if err == nil {
				return "", fmt.Errorf("link %v does not lose every packet: a test connection through the link was accepted", l.Pair)
			}
			return "", fmt.Errorf("cannot prove that link %v loses every packet: a test connection through the link should get no "+
				"answer, but it failed with another error: %w", l.Pair, err)
		case <-time.After(proveEvery):
		}
	}
	cancel()
	<-answered //nolint:errcheck // it was given up
	return text + "; a test connection got no answer", nil
}
