package worker

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/harness/internal/control"
)

const envMain = "LOCKSTORM_TEST_WORKER"

// TestMain lets this binary start itself as a worker.
func TestMain(m *testing.M) {
	if os.Getenv(envMain) == "" {
		os.Exit(m.Run())
	}
	if err := Main(Parts{}); err != nil {
		os.Stderr.WriteString(err.Error()) //nolint:errcheck // it is all that this process says
		os.Exit(1)
	}
}

// A worker that receives something else than its configuration says what it received, and no error that is none.
func TestAWorkerWithoutItsConfiguration(t *testing.T) {
	channel, far, err := control.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envMain+"=1")
	cmd.ExtraFiles = make([]*os.File, control.FD-2)
	cmd.ExtraFiles[control.FD-3] = far
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := far.Close(); err != nil {
		t.Error(err)
	}
	if err := channel.Send(control.Message{Op: control.Failed}); err != nil {
		t.Error(err)
	}
	err = cmd.Wait()
	if want := `the client expected its configuration from lockstorm, but received the message "` + control.Failed +
		`"`; err == nil || !strings.Contains(said.String(), want) || strings.Contains(said.String(), "%!") {
		t.Errorf("%v, said %q, want %q", err, said.String(), want)
	}
	if err := channel.Close(); err != nil {
		t.Error(err)
	}
}
