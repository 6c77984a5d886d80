//go:build series

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// spinning is how many loops a busy host has.
const spinning = 4

// spin makes the host busy until the function that it returns is called.
func spin(t *testing.T) (stop func()) {
	t.Helper()
	var loops []*exec.Cmd
	stop = func() {
		for _, l := range loops {
			l.Process.Kill() //nolint:errcheck // it spins: it is there
			l.Wait()         //nolint:errcheck // it was killed
		}
	}
	for range spinning {
		l := exec.Command("sh", "-c", fmt.Sprintf("while kill -0 %d 2>/dev/null; do :; done", os.Getpid())) // none outlives this test
		if err := l.Start(); err != nil {
			stop()
			t.Fatal(err)
		}
		loops = append(loops, l)
	}
	return stop
}
