package harness

import "errors"

// Exit codes of a run.
const (
	ExitPass        = 0
	ExitViolation   = 1
	ExitUnknown     = 2
	ExitUsage       = 3
	ExitEnvironment = 4
	ExitPanic       = 70 // a bug of the program or of a fault: it says nothing about the lock
	ExitInterrupted = 130
)

// Error is an error with the exit code that it stands for.
type Error struct {
	Code int
	Err  error
}

// Error is the text of what went wrong.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the exit code that an error carries; 0: it carries none.
func CodeOf(err error) int {
	var coded *Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	return 0
}

// Usage is an error of who uses the program wrongly.
func Usage(err error) error { return &Error{Code: ExitUsage, Err: err} }

// Environment is an error of what is missing or broken outside, unless it carries a code already; nil stays nil.
func Environment(err error) error {
	if err == nil || CodeOf(err) != 0 {
		return err
	}
	return &Error{Code: ExitEnvironment, Err: err}
}
