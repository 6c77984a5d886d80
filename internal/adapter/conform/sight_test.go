package conform_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/adapter/adaptertest"
	"github.com/lockstorm/lockstorm/internal/adapter/conform"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// An adapter in namespaces of its own keeps every rule but one: a client does not see the others alive.
func TestAdapterThatIsAlone(t *testing.T) {
	t.Parallel()
	if err := proc.Containable(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"--pid", "--ipc"} {
		argv := []string{unshare, "--user", "--map-root-user", "--fork", kind, self, adaptertest.AsAdapter + adaptertest.Honest}
		all := conform.Check(t.Context(), conform.Target{Argv: argv, Dir: t.TempDir(), TTL: 10 * time.Second, Seed: 1, Log: io.Discard})
		for _, r := range all {
			alone := r.Rule == "two clients see each other alive"
			if alone != strings.Contains(r.Broken, "in several namespaces") || !alone && r.Broken != "" || r.NotTried != "" {
				t.Errorf("%s: %+v", kind, r)
			}
		}
	}
}
