package backends

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/lockstorm/lockstorm/history"
)

// Definite errors. What they name certainly did not happen.
var (
	ErrBusy       = errors.New("another client holds the lock")
	ErrNotHeld    = errors.New("the store says that this client does not hold the lock")
	ErrNotSent    = errors.New("the request was not sent")
	ErrStaleToken = errors.New("the store of the protected data refused an outdated fencing token")
	ErrDeadlock   = errors.New("the store refused the request because of a deadlock between clients")
	ErrConflict   = errors.New("the store rolled back the request because a conflicting request of another client came first")
)

// Outcome turns an error into the type to record, ok, fail (certainly did not happen) or info (unknown), with a code
// of the closed list. In doubt it returns info.
func Outcome(err error) (history.Type, string) {
	switch {
	case err == nil:
		return history.OK, ""
	case errors.Is(err, ErrBusy):
		return history.Fail, history.ErrBusy
	case errors.Is(err, ErrNotHeld):
		return history.Fail, history.ErrNotHeld
	case errors.Is(err, ErrStaleToken):
		return history.Fail, history.ErrStaleToken
	case errors.Is(err, ErrConflict):
		return history.Fail, history.ErrConflict
	case errors.Is(err, ErrDeadlock):
		return history.Fail, history.ErrDeadlock
	case errors.Is(err, ErrNotSent):
		return history.Fail, history.ErrNotSent
	case isTimeout(err):
		return history.Info, history.ErrTimeout
	case isClosed(err):
		return history.Info, history.ErrClosed
	default:
		return history.Info, history.ErrOther
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &ne) && ne.Timeout())
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// ErrMissing is returned where this host lacks something that a lock needs: a program, or a library of its language.
var ErrMissing = errors.New("a program or library that the lock needs is missing on this host")
