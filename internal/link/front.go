package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// front is an address that parties dial. While it is shut, dialling is refused, and its
// port stays ours: a second socket is bound to it and never listens.
type front struct {
	addr    string
	route   func(c net.Conn) *Link // nil: it is refused
	reserve int                    // file descriptor of the socket that keeps the port
	wg      sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	shut     int // how many faults want it shut
	lossy    bool
	closed   bool
	gone     chan struct{} // closed with it
	trouble  error         // the last that kept it from accepting
}

// acceptAgain is after how long a front that could not accept tries again.
const acceptAgain = 10 * time.Millisecond

func openFront(host string, route func(net.Conn) *Link) (*front, error) {
	fd, port, err := reservePort(host)
	if err != nil {
		return nil, fmt.Errorf("cannot reserve a port for a proxy: %w", err)
	}
	f := &front{addr: net.JoinHostPort(host, strconv.Itoa(port)), route: route, reserve: fd, gone: make(chan struct{})}
	if err := f.listen(); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return f, nil
}

// reservePort binds a socket to a free port of one of our addresses, of IPv4, without listening on it.
func reservePort(host string) (fd, port int, err error) {
	at, err := netip.ParseAddr(host)
	if err == nil && !at.Is4() {
		err = fmt.Errorf("%s is not an IPv4 address", host)
	}
	if err != nil {
		return 0, 0, err
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	fail := func(err error) (int, int, error) { return 0, 0, errors.Join(err, unix.Close(fd)) }
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fail(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: at.As4()}); err != nil {
		return fail(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return fail(err)
	}
	in4, ok := sa.(*unix.SockaddrInet4)
	if !ok {
		return fail(fmt.Errorf("bound to %T", sa))
	}
	return fd, in4.Port, nil
}

// listen opens the front; the caller holds the lock or is the only one.
func (f *front) listen() error {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		ctlErr := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			if f.lossy {
				err = errors.Join(err, setLossy(int(fd), true))
			}
		})
		return errors.Join(ctlErr, err)
	}}
	lc.SetMultipathTCP(false) // sockets of several paths take no filter
	l, err := lc.Listen(context.Background(), "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", f.addr, err)
	}
	f.listener = l
	f.wg.Go(func() { f.accept(l) })
	return nil
}

func (f *front) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, say: the callers wait, and Close tells of it
			f.mu.Lock()
			f.trouble = err
			f.mu.Unlock()
			time.Sleep(acceptAgain)
			continue
		}
		f.wg.Go(func() {
			if l := f.route(c); l != nil {
				l.serve(c, f.gone)
				return
			}
			abort(c)
		})
	}
}

// block shuts the front until as many open calls follow.
func (f *front) block() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut++
	if f.shut > 1 || f.closed {
		return nil
	}
	return f.listener.Close()
}

func (f *front) unblock() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut--
	if f.shut > 0 || f.closed {
		return nil
	}
	return f.listen()
}

// lose has the front lose every packet, or no more.
func (f *front) lose(on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lossy = on
	if f.shut > 0 || f.closed {
		return nil
	}
	return lossy(f.listener, on)
}

// socket is what it listens at; nil while it is shut.
func (f *front) socket() any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut > 0 || f.closed {
		return nil
	}
	return f.listener
}

func (f *front) close() error {
	f.mu.Lock()
	if !f.closed {
		close(f.gone)
	}
	f.closed = true
	var err error
	if f.shut == 0 {
		err = f.listener.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
	return errors.Join(err, f.trouble, unix.Close(f.reserve))
}
