package sockets

import (
	"net"
	"os"
	"testing"
)

// A connection within this process is found by its both ends, and by nobody else's.
func TestCaller(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // a test
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // a test
	if pid, ok := Caller(in.RemoteAddr().(*net.TCPAddr), in.LocalAddr().(*net.TCPAddr), []int{1, os.Getpid()}); !ok ||
		pid != os.Getpid() {
		t.Errorf("the caller is %d, %v; want %d", pid, ok, os.Getpid())
	}
	if pid, ok := Caller(in.RemoteAddr().(*net.TCPAddr), in.LocalAddr().(*net.TCPAddr), []int{os.Getppid()}); ok {
		t.Errorf("the caller is %d, which has no such socket", pid)
	}
	if ok, err := Listens(os.Getpid(), l.Addr().String()); err != nil || !ok {
		t.Errorf("does not listen at its own address: %v", err)
	}
	if ok, err := Listens(os.Getppid(), l.Addr().String()); err != nil || ok {
		t.Errorf("the parent listens at our address: %v", err)
	}
	conns, err := Connections(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	here := c.LocalAddr().(*net.TCPAddr).Port
	for _, k := range conns {
		if k.Local == here {
			return
		}
	}
	t.Errorf("no connection from port %d in %v", here, conns)
}
