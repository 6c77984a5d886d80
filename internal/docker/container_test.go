package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/compose"
)

// Every image has a Dockerfile on a base that can be replaced, and a name of its own once built.
func TestImages(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range compose.Images() {
		text := string(i.Dockerfile())
		if !strings.Contains(text, "ARG BASE=debian:bookworm-slim\nFROM ${BASE}\n") {
			t.Errorf("%s is not built on a base that can be replaced:\n%s", i.Name, text)
		}
		built := i.Built()
		if !strings.HasPrefix(built, "localhost/lockstorm-"+i.Name+":") || seen[built] {
			t.Errorf("%s is built as %s", i.Name, built)
		}
		seen[built] = true
	}
}

// What users pull comes before what is built; what they have chosen is the only one.
func TestCandidates(t *testing.T) {
	redis, err := compose.Find("redis")
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := compose.Find("etcd")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of      compose.Image
		choices compose.Choices
		want    []string
	}{
		{redis, nil, []string{redis.Official, redis.Built()}},
		{redis, compose.Choices{"redis": "a:1"}, []string{"a:1"}},
		{redis, compose.Choices{"etcd": "a:1"}, []string{redis.Official, redis.Built()}},
		{etcd, nil, []string{etcd.Built()}},
	} {
		if got := candidates(c.choices, c.of); !slices.Equal(got, c.want) {
			t.Errorf("%s with %v: %v, want %v", c.of.Name, c.choices, got, c.want)
		}
	}
}

// A daemon whose containers are not in this host's network is refused, with the reason.
func TestElsewhere(t *testing.T) {
	const here = "unix:///var/run/docker.sock"
	for _, c := range []struct {
		host, system string
		security     []string
		want         string
	}{
		{here, "Debian GNU/Linux 12", []string{"name=seccomp,profile=default"}, ""},
		{"tcp://10.0.0.1:2376", "Debian GNU/Linux 12", nil, "may be on another host"},
		{here, "Docker Desktop", nil, "in a virtual machine"},
		{here, "Debian GNU/Linux 12", []string{"name=rootless"}, "rootless Docker"},
		{here, "Debian GNU/Linux 12", []string{"name=userns"}, ""},
	} {
		err := elsewhere(c.host, c.system, c.security)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// One that maps users is told not to.
func TestMapping(t *testing.T) {
	if got := mapping([]string{"name=seccomp,profile=default", "name=userns"}); got != "host" {
		t.Errorf("%q", got)
	}
	if got := mapping([]string{"name=seccomp,profile=default"}); got != "" {
		t.Errorf("%q", got)
	}
}

func TestUnreachable(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("dial: %w", fs.ErrPermission):             "add you to the group docker",
		errors.New("permission denied while trying\nmore"):   "add you to the group docker",
		errors.New("Cannot connect to the Docker daemon at"): "start the daemon, set DOCKER_HOST",
		errors.New("an answer of 200 pages\nof which"):       "the Docker daemon gave an unexpected answer",
	} {
		if text := unreachable(err).Error(); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("%q", text)
		}
	}
}

// A container sees the node's folder and the clock shim under names of its own, whatever they are called here.
func TestEnvironment(t *testing.T) {
	env, binds := environment(cluster.Place{Dir: "/root/run/nodes/redis-1", Env: []string{
		"LD_PRELOAD=/root/.cache/shim.so",
		"LOCKSTORM_CLOCK=/root/run/nodes/redis-1/clock", "X=/root/run/nodes/redis-10",
	}})
	for name, want := range map[string]string{
		"LD_PRELOAD": "/lockstorm-preload/shim.so", "LOCKSTORM_CLOCK": "/lockstorm/clock",
		"X": "/root/run/nodes/redis-10",
	} {
		if env[name] != want {
			t.Errorf("%s=%s, want %s", name, env[name], want)
		}
	}
	for _, want := range []string{"/root/run/nodes/redis-1:/lockstorm", "/root/.cache:/lockstorm-preload:ro"} {
		if !slices.Contains(binds, want) {
			t.Errorf("%s is not among %v", want, binds)
		}
	}
}

func TestBuildResult(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{`{"stream":"Step 1"}{"stream":"Successfully built"}`, ""},
		{
			`{"stream":"E: Unable to locate package x\n"}{"errorDetail":{"message":"returned a non-zero code: 100"}}`,
			"returned a non-zero code: 100 (E: Unable to locate package x)",
		},
		{`{"stream":`, "unexpected EOF"},
	} {
		err := buildResult(strings.NewReader(c.said))
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v", c.said, err)
		}
	}
}

// A process is known by its id and its beginning: one that has ended is nobody, and another one with its
// id would be somebody else.
func TestOwner(t *testing.T) {
	alive := func(label string) bool {
		return fateOf(map[string]string{labelHost: here().host(), labelOwner: label}, here(), owner) == lives
	}
	own, _ := owner(os.Getpid())
	if !alive(own) || alive(own+"1") || alive("") || alive("1") {
		t.Errorf("own label %q", own)
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	label, _ := owner(cmd.Process.Pid)
	if !alive(label) {
		t.Errorf("a process that lives is dead: %q", label)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // it was killed
	if alive(label) {
		t.Errorf("a process that was killed lives: %q", label)
	}
}

// The kernel's word for a frozen group, in both versions of groups.
func TestFrozen(t *testing.T) {
	for _, c := range []struct {
		file, text string
		is         func(string) bool
		want       bool
	}{
		{"freezer.state", "FROZEN\n", isFrozenV1, true},
		{"freezer.state", "FREEZING\n", isFrozenV1, false},
		{"freezer.state", "THAWED\n", isFrozenV1, false},
		{"cgroup.events", "populated 1\nfrozen 1\n", isFrozenV2, true},
		{"cgroup.events", "populated 1\nfrozen 0\n", isFrozenV2, false},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{c.file: c.text, "cgroup.procs": "1\n2\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, text, err := frozenBy(dir, c.file, c.is)
		if err != nil || got != c.want || !strings.Contains(text, "cgroup: 2;") {
			t.Errorf("%q: %v, %q, %v", c.text, got, text, err)
		}
	}
	if _, _, err := frozen(0); !errors.Is(err, errNoFreezer) {
		t.Errorf("of nobody: %v", err)
	}
}

// A warden that is told that all is done sweeps nothing; Release waits for its end.
func TestGuard(t *testing.T) {
	for _, clean := range []bool{true, false} {
		file := filepath.Join(t.TempDir(), "said")
		g, err := StartGuard(exec.Command("sh", "-c", "cat >"+file))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Release(clean); err != nil {
			t.Error(err)
		}
		want := ""
		if clean {
			want = done + "\n"
		}
		if said, err := os.ReadFile(file); err != nil || string(said) != want {
			t.Errorf("it was told %q, %v", said, err)
		}
	}
	if err := (*Guard)(nil).Release(true); err != nil {
		t.Error(err)
	}
}

// What a guard is told says which names were about to be made, and whether all is done.
func TestFollow(t *testing.T) {
	for text, want := range map[string]struct {
		open  []string
		clean bool
	}{
		"":                                 {},
		"make a\nmade a\nmake b\nmake c\n": {open: []string{"b", "c"}},
		"make a\nmade a\ndone\n":           {clean: true},
		"make a\nmad":                      {open: []string{"a"}},
		"done\nmake a\n":                   {open: []string{"a"}},
	} {
		if open, clean, err := follow(strings.NewReader(text)); !slices.Equal(open, want.open) || clean != want.clean || err != nil {
			t.Errorf("%q: %v, %v, %v", text, open, clean, err)
		}
	}
}

// Dead is only what is proven to be: a process of this machine that is no more, or one of an earlier boot of it. The
// Docker of another machine, a boot that cannot be read and a container are no proof.
func TestFate(t *testing.T) {
	at := origin{machine: "m", boot: "b", pids: "pid:[1]"}
	find := func(pid int) (string, bool) { return map[int]string{7: "7-100"}[pid], pid != 6 }
	of := func(host, machine, owner string) map[string]string {
		return map[string]string{labelHost: host, labelMachine: machine, labelOwner: owner}
	}
	for name, c := range map[string]struct {
		labels map[string]string
		at     origin
		want   fate
	}{
		"it lives":                        {of("b pid:[1]", "m", "7-100"), at, lives},
		"it is no more":                   {of("b pid:[1]", "m", "8-100"), at, dead},
		"nobody may see it":               {of("b pid:[1]", "m", "6-100"), at, untold},
		"another one has its id":          {of("b pid:[1]", "m", "7-99"), at, dead},
		"an earlier boot of this machine": {of("a pid:[1]", "m", "7-100"), at, dead},
		"another machine":                 {of("a pid:[1]", "n", "7-100"), at, untold},
		"a machine without a name":        {of("a pid:[1]", "", "7-100"), origin{boot: "b", pids: "pid:[1]"}, untold},
		"made by an earlier lockstorm":    {map[string]string{labelHost: "a pid:[1]", labelOwner: "7-100"}, at, untold},
		"in a container of this machine":  {of("b pid:[2]", "m", "9-100"), at, untold},
		"its boot could not be read":      {of("unknown", "m", "9-100"), at, untold},
		"ours cannot be read":             {of("b pid:[1]", "m", "9-100"), origin{machine: "m"}, untold},
		"both cannot be read":             {of("unknown", "m", "9-100"), origin{machine: "m"}, untold},
		"no owner":                        {of("b pid:[1]", "m", ""), at, untold},
		"no labels":                       {nil, at, untold},
	} {
		if got := fateOf(c.labels, c.at, find); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A call to the daemon that was given up leaves its name open, for whoever sweeps after us.
func TestOpenNames(t *testing.T) {
	p := &Provider{run: "r"}
	first, made, err := p.guarded("a")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := p.guarded("b")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.open, []string{first, second}) {
		t.Errorf("open: %v", p.open)
	}
	if made(); !slices.Equal(p.open, []string{second}) {
		t.Errorf("open: %v", p.open)
	}
}
