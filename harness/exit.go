package harness

import "errors"

// Exit codes of a run.
const (
	ExitPass        = 0
	ExitViolation   = 1
	ExitUnknown     = 2
	ExitUsage       = 3
	ExitEnvironment = 4
	ExitPanic       = 70 // a bug of the program or of a fault: the lock is not judged
	ExitInterrupted = 130
)

// Error is an error with its exit code.
type Error struct {
	Code int
	Err  error
}

// Error returns the text of the error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the exit code that an error carries; 0: none.
func CodeOf(err error) int {
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

// Usage marks err as wrong usage of the program.
func Usage(err error) error { return &Error{Code: ExitUsage, Err: err} }

// Environment marks err as caused by something missing or broken outside, unless it carries a code already; nil stays nil.
func Environment(err error) error {
	if err == nil || CodeOf(err) != 0 {
		return err
	}
	return &Error{Code: ExitEnvironment, Err: err}
}
