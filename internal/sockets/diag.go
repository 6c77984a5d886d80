package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is what the kernel says of one: see sock_diag(7), inet_diag_msg.
type socket struct {
	state         uint8
	local, remote uint16 // ports
	inode         uint32
}

const (
	sockDiagByFamily = 20
	established      = 1 // states of TCP
	listening        = 10
	requestSize      = 56
	answerSize       = 72
	anyCookie        = 0xffffffff
)

// lookup asks for the one socket that is connected from one address to another.
func lookup(from, to netip.AddrPort) (socket, error) {
	id := binary.BigEndian.AppendUint16(nil, from.Port())
	id = binary.BigEndian.AppendUint16(id, to.Port())
	for _, a := range []netip.Addr{from.Addr(), to.Addr()} {
		four := a.Unmap().As4()
		id = append(append(id, four[:]...), make([]byte, 12)...)
	}
	all, err := diag(0, append(id, make([]byte, 4)...))
	if err != nil {
		return socket{}, err
	}
	if len(all) != 1 {
		return socket{}, fmt.Errorf("expected one TCP socket with the addresses %v and %v, but the kernel reports %d", from, to,
			len(all))
	}
	return all[0], nil
}

// list asks for all of them.
func list() ([]socket, error) {
	all, err := diag(unix.NLM_F_DUMP, make([]byte, 40))
	if err != nil {
		return nil, fmt.Errorf("cannot list the sockets of this host: %w", err)
	}
	return all, nil
}

// diag sends one request for TCP over IPv4 and reads its answers. id is an inet_diag_sockid
// without its cookie.
func diag(flags uint16, id []byte) ([]socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd) //nolint:errcheck // it was only asked
	n := binary.NativeEndian
	b := n.AppendUint32(nil, unix.NLMSG_HDRLEN+requestSize)
	b = n.AppendUint16(b, sockDiagByFamily)
	b = n.AppendUint16(b, unix.NLM_F_REQUEST|flags)
	b = append(b, make([]byte, 8)...) // sequence number and port: there is one request
	b = append(b, unix.AF_INET, unix.IPPROTO_TCP, 0, 0)
	b = n.AppendUint32(b, 1<<established|1<<listening)
	b = append(b, id...)
	b = n.AppendUint32(n.AppendUint32(b, anyCookie), anyCookie)
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	return receive(fd, flags&unix.NLM_F_DUMP != 0)
}

func receive(fd int, dump bool) (all []socket, err error) {
	b := make([]byte, 1<<16)
	for {
		size, _, err := unix.Recvfrom(fd, b, 0)
		if err != nil {
			return nil, os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(b[:size])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == unix.NLMSG_DONE:
				return all, nil
			case m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4:
				return nil, os.NewSyscallError("sock_diag", unix.Errno(-int32(binary.NativeEndian.Uint32(m.Data))))
			case len(m.Data) < answerSize:
				return nil, errors.New("the kernel's answer about sockets is incomplete")
			}
			all = append(all, socket{
				state: m.Data[1], local: binary.BigEndian.Uint16(m.Data[4:]), remote: binary.BigEndian.Uint16(m.Data[6:]),
				inode: binary.NativeEndian.Uint32(m.Data[68:]),
			})
		}
		if !dump {
			return all, nil
		}
	}
}
