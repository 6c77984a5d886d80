package harness

import (
	"context"
	"errors"
	"testing"
	"time"
)

// What is done in time is returned, also after an interruption; what is not is given up with
// the code for that, and its name.
func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if v, err := Interruptible(ctx, "it", func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	cancel()
	if v, err := Interruptible(ctx, "it", func() (int, error) { return 8, nil }); v != 8 || err != nil {
		t.Errorf("nearly done: %d, %v", v, err)
	}
	begun, release := time.Now(), make(chan struct{})
	ended := make(chan struct{})
	_, err := Interruptible(ctx, "the record", func() (int, error) { defer close(ended); <-release; return 9, nil })
	var he *Error
	if !errors.As(err, &he) || he.Code != ExitInterrupted || time.Since(begun) > 5*patience {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	close(release)
	<-ended
}
