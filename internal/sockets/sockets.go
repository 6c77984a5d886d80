// Package sockets tells which process is at the other end of a connection of this host, by
// asking the kernel (sock_diag) and looking into /proc. No cooperation of the process is
// needed; it must run under our own user, or we must be root.
package sockets

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Caller is the process among pids whose socket is connected from one address to another: the
// one that dialled. ok is false where it is none of them, or has closed the socket by now.
func Caller(from, to *net.TCPAddr, pids []int) (pid int, ok bool) {
	s, err := lookup(from.AddrPort(), to.AddrPort())
	if err != nil {
		return 0, false
	}
	for _, pid := range pids {
		if has(pid, s.inode) {
			return pid, true
		}
	}
	return 0, false
}

// Listens reports whether a process is the one that listens at an address of 127.0.0.1.
func Listens(pid int, addr string) (bool, error) {
	at, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return false, err
	}
	all, err := list()
	if err != nil {
		return false, err
	}
	for _, s := range all {
		if s.state == listening && int(s.local) == at.Port && has(pid, s.inode) {
			return true, nil
		}
	}
	return false, nil
}

// Own is nil when a process is the one that listens at an address of 127.0.0.1, as far as that can be
// seen: of process 0 nothing can.
func Own(pid int, addr string) error {
	if pid == 0 {
		return nil
	}
	own, err := Listens(pid, addr)
	if err == nil && !own {
		err = errors.New("another process already listens at this address")
	}
	return err
}

// Conn is an established connection as the socket of one process has it.
type Conn struct{ Local, Remote int } // ports

// Connections are the established ones of a process, each of its ends by itself.
func Connections(pid int) ([]Conn, error) {
	all, err := list()
	if err != nil {
		return nil, err
	}
	own := inodes(pid)
	var out []Conn
	for _, s := range all {
		if s.state == established && own[s.inode] {
			out = append(out, Conn{int(s.local), int(s.remote)})
		}
	}
	return out, nil
}

func has(pid int, inode uint32) bool { return inode != 0 && inodes(pid)[inode] }

// inodes are those of the sockets that a process has open; none where it is no more.
func inodes(pid int) map[uint32]bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	fds, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	out := map[uint32]bool{}
	for _, fd := range fds {
		text, err := os.Readlink(filepath.Join(dir, fd.Name()))
		var inode uint32
		if err != nil {
			continue // closed meanwhile
		}
		if _, err := fmt.Sscanf(text, "socket:[%d]", &inode); err == nil {
			out[inode] = true
		}
	}
	return out
}

// Direct are the connections that processes have with one another, not by way of anybody else: each
// named by who has its ends.
func Direct(pids map[string]int) ([]string, error) {
	owner := map[Conn]string{}
	for name, pid := range pids {
		conns, err := Connections(pid)
		if err != nil {
			return nil, err
		}
		for _, c := range conns {
			owner[c] = name
		}
	}
	var out []string
	for c, name := range owner {
		if peer, ok := owner[Conn{c.Remote, c.Local}]; ok && c.Local < c.Remote {
			out = append(out, fmt.Sprintf("%s:%d and %s:%d", name, c.Local, peer, c.Remote))
		}
	}
	slices.Sort(out)
	return out, nil
}
