package external

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// door is an address of 127.0.0.1 behind which connections are opened as the server wants it.
type door struct {
	l       net.Listener
	enter   func(ctx context.Context) (net.Conn, error)
	life    context.Context
	end     context.CancelFunc
	callers sync.WaitGroup
}

func openDoor(enter func(ctx context.Context) (net.Conn, error)) (*door, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{l: l, enter: enter}
	d.life, d.end = context.WithCancel(context.Background())
	d.callers.Go(d.serve)
	return d, nil
}

func (d *door) addr() string { return d.l.Addr().String() }

func (d *door) serve() {
	for {
		c, err := d.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			d.callers.Go(func() { d.join(c) })
		}
	}
}

// join passes bytes both ways until either side ends: then both do.
func (d *door) join(caller net.Conn) {
	defer caller.Close() //nolint:errcheck // it was read to its end
	asking, cancel := context.WithTimeout(d.life, askLimit)
	server, err := d.enter(asking)
	cancel()
	if err != nil {
		return // the caller sees its connection end, as from a server that is not there
	}
	stop := context.AfterFunc(d.life, func() {
		caller.Close() //nolint:errcheck // so that nobody waits
		server.Close() //nolint:errcheck // so that nobody waits
	})
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(server, caller) //nolint:errcheck // either end of it is its end
		server.Close()          //nolint:errcheck // ends the other direction
	}()
	io.Copy(caller, server) //nolint:errcheck // either end of it is its end
	caller.Close()          //nolint:errcheck // ends the other direction
	<-done
}

func (d *door) close() error {
	err := d.l.Close()
	d.end()
	d.callers.Wait()
	return err
}
