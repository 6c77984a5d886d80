package companion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// It sees no processes before its own code begins, unless the user has said where they are; then it sees them.
func TestItLooksAtNoProcesses(t *testing.T) {
	t.Setenv(EnvPath, "/bin/true")
	for set, want := range map[string]string{"": envProc + "=" + noProc, "/host/proc": envProc + "=/host/proc"} {
		t.Setenv(envProc, set)
		cmd, err := Command(Etcd, "etcd.yml")
		if err != nil {
			t.Fatal(err)
		}
		if last := lastOf(cmd.Env, envProc+"="); last != want {
			t.Errorf("%q: it has %q, want %q", set, last, want)
		}
		if last := lastOf(cmd.Env, EnvPart+"="); last != EnvPart+"="+Etcd {
			t.Errorf("it is to be %q", last)
		}
	}
}

// lastOf is the one that counts of the entries that begin so.
func lastOf(env []string, prefix string) string {
	for _, e := range slices.Backward(env) {
		if strings.HasPrefix(e, prefix) {
			return e
		}
	}
	return ""
}

// It is what the environment names, else what is on PATH; where it is missing, the error says how to get it.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv(EnvPath, "")
	if path, err := Find(); err == nil || !strings.Contains(err.Error(), "go install") {
		t.Errorf("%q, %v", path, err)
	}
	program := filepath.Join(dir, Program)
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := Find(); path != program {
		t.Errorf("%q, %v", path, err)
	}
	t.Setenv(EnvPath, "/elsewhere")
	if path, err := Find(); path != "/elsewhere" {
		t.Errorf("%q, %v", path, err)
	}
}

// Two programs that do not speak the same language say so.
func TestPart(t *testing.T) {
	t.Setenv(EnvPart, "")
	if part, err := Part(); part != "" || err != nil {
		t.Errorf("started by hand: %q, %v", part, err)
	}
	t.Setenv(EnvPart, NATS)
	t.Setenv(envSpeak, speaks)
	if part, err := Part(); part != NATS || err != nil {
		t.Errorf("%q, %v", part, err)
	}
	t.Setenv(envSpeak, "0")
	if part, err := Part(); err == nil || !strings.Contains(err.Error(), "one version") {
		t.Errorf("%q, %v", part, err)
	}
}
