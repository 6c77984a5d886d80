package mutants

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Stage is a part of what shall notice a mutant.
type Stage struct {
	Name  string
	Args  []string // of go test
	Proof bool     // it is of what checks proofs, and is asked of nothing else
}

// Stages are in the order in which they are asked, the fastest first.
func Stages() []Stage {
	return []Stage{
		{"fixtures", []string{"-run", "^Test(Fixtures|Figures|Leads)$", "./checker"}, false},
		{"tests of checker/internal/lin", []string{"-short", "./checker/internal/lin/..."}, false},
		{"tests of history", []string{"-short", "./history"}, false},
		{"tests of checker", []string{"-short", "./checker/..."}, false},
		{"tests of proof", []string{"./internal/proof"}, true},
		{"hunted proofs", []string{"-run", "^Test(Proofs|Forged|Coarse)$", "./internal/tests/hunt"}, true},
		{"hunt", []string{"-run", "^(TestHunt|TestKnown)$", "./internal/tests/hunt"}, false},
	}
}

// Judge tries mutants.
type Judge struct {
	Root      string
	Histories int // of the hunt
	Cores     int // for one mutant
}

// What a mutant may take. The slowest stage takes half a minute of one core and 200 MB as it is. The time is
// that of the processor, so that a busy host makes no mutant seem caught; the wall clock is only for one
// that waits for ever.
const (
	coreSeconds = 240
	kilobytes   = 6 << 20
	wall        = 20 * time.Minute
)

// Result is what became of a mutant.
type Result struct {
	Mutant  Mutant
	Void    bool   // it does not compile, and counts for nothing
	Stage   string // what caught it; "" if nothing did
	By      string // the first test that failed, or how it ended
	Timeout bool
	Took    time.Duration
}

// Try asks the stages one after another whether they notice m. With nil it tries the judge as it is.
func (j Judge) Try(ctx context.Context, m *Mutant) (r Result, err error) {
	begin := time.Now()
	defer func() { r.Took = time.Since(begin) }()
	dir, err := os.MkdirTemp("", "judge-mutants-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	overlay := filepath.Join(dir, "overlay.json")
	if err := j.overlay(dir, overlay, m); err != nil {
		return r, err
	}
	if m != nil {
		r.Mutant = *m
		_, err := j.run(ctx, "build", "-overlay", overlay, "./checker/...", "./history/...", "./internal/proof")
		if failed(err) {
			r.Void = true
			return r, nil
		}
		if err != nil {
			return r, err
		}
	}
	for _, s := range Stages() {
		if m != nil && s.Proof != strings.HasPrefix(m.File, proofs+"/") {
			continue
		}
		args := append([]string{"test", "-overlay", overlay, "-vet=off", "-ldflags=-s -w", "-failfast", "-timeout", wall.String()},
			s.Args...)
		text, err := j.run(ctx, args...)
		if err == nil {
			continue
		}
		if !failed(err) {
			return r, err
		}
		if broken.MatchString(text) { // the mutant itself did compile
			return r, fmt.Errorf("%s: the tests do not build:\n%s", s.Name, text)
		}
		r.Stage = s.Name
		r.By, r.Timeout = reason(text)
		return r, nil
	}
	return r, nil
}

// Stamp sums up the sources of judge, tests and hunt: what is caught counts only while they stay as they are.
func (j Judge) Stamp() (string, error) {
	h := sha256.New()
	root, err := os.OpenRoot(j.Root)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // it was only read
	for _, dir := range []string{"checker", "history", "internal/proof", "internal/tests/hunt"} {
		err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := root.ReadFile(name)
			fmt.Fprintf(h, "%s %d\n", name, len(b))
			h.Write(b)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func failed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

func (j Judge) overlay(dir, file string, m *Mutant) error {
	replace := map[string]string{}
	if m != nil {
		name := filepath.Join(j.Root, m.File)
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		copied := filepath.Join(dir, "mutant.go")
		if err := os.WriteFile(copied, m.Apply(src), 0o644); err != nil {
			return err
		}
		replace[name] = copied
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

// run runs the go command, and each process below it within the bounds.
func (j Judge) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*wall)
	defer cancel()
	script := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec go "$@"`, coreSeconds, kilobytes)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "go"}, args...)...)
	cmd.Dir = j.Root
	cmd.Env = append(os.Environ(), "GOFLAGS=", fmt.Sprintf("GOMAXPROCS=%d", j.Cores), fmt.Sprintf("HUNT_N=%d", j.Histories),
		"LOCKSTORM_RANDOM=all", "HUNT_SEED=1", "HUNT_TWINS=300", "HUNT_COARSE=300")
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(text), err
}

var (
	failedTest = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	outOfTime  = regexp.MustCompile(`signal: (CPU time limit exceeded|killed)|SIGXCPU|panic: test timed out`)
	broken     = regexp.MustCompile(`\[(setup|build) failed\]`)
	panicked   = regexp.MustCompile(`(?m)^(panic|fatal error|runtime): .*`)
)

// reason is what the output of a failed stage names first: the test, a crash, or the time.
func reason(text string) (by string, timeout bool) {
	if outOfTime.MatchString(text) {
		return "out of time", true
	}
	if m := failedTest.FindAllStringSubmatch(text, -1); m != nil {
		return m[len(m)-1][1], false // the innermost stands last
	}
	if m := panicked.FindString(text); m != "" {
		return m, false
	}
	return text[max(0, len(text)-200):], false
}
