package harness

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

func usage(err error) error       { return &Error{Code: ExitUsage, Err: err} }
func environment(err error) error { return &Error{Code: ExitEnvironment, Err: err} }
