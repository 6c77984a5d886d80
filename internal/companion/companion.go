// Package companion finds and starts lockstorm-servers: the program beside ours with what few runs need and what takes
// long to compile and to load (the embedded servers of etcd and NATS, and Docker).
package companion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Program is its name.
const Program = "lockstorm-servers"

// The environment of the program.
const (
	EnvPath  = "LOCKSTORM_SERVERS"        // where it is, unless beside our program or on PATH
	EnvPart  = "LOCKSTORM_SERVERS_PART"   // what it is to be
	envSpeak = "LOCKSTORM_SERVERS_SPEAKS" // the language of who started it
	envProc  = "HOST_PROC"                // of a library that testcontainers uses: see Command
	noProc   = "/nonexistent"
)

// The parts that it can be. Those that serve take an argument: the file with their configuration.
const (
	Etcd       = "etcd"
	NATS       = "nats-server"
	Queue      = "queue"      // of a campaign: see package queue
	Containers = "containers" // see package wire
	Warden     = "warden"     // of the run in its argument: removes containers once its input ends
	Versions   = "versions"   // prints a line for each server
)

// speaks changes with what passes between the two programs.
const speaks = "1"

var own bool

// BeOwn makes this program its own companion: a test that has the servers in its binary. If it was started as one, it must serve
// before it calls BeOwn: a program that went on would start itself for ever, so that ends it.
func BeOwn() {
	if os.Getenv(EnvPart) != "" {
		fmt.Fprintf(os.Stderr, "%s was started as %s, and is none\n", os.Args[0], Program)
		os.Exit(1)
	}
	own = true
}

// Find returns the path of the program. The error says how to get it.
func Find() (string, error) {
	self, err := os.Executable()
	if own {
		return self, err
	}
	if path := os.Getenv(EnvPath); path != "" {
		return path, nil
	}
	if beside := filepath.Join(filepath.Dir(self), Program); err == nil {
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	if path, err := exec.LookPath(Program); err == nil {
		return path, nil
	}
	return "", ErrMissing
}

// ErrMissing says how to get the program.
var ErrMissing = errors.New("the program " + Program + " is missing, beside this program and on PATH: run go install " +
	"github.com/lockstorm/lockstorm/cmd/" + Program + "@latest")

// Command returns the program as one of its parts. When testcontainers is loaded, it looks at every process of the host for its
// parent, which can take longer than all else: so it finds no processes until the program's own code begins.
func Command(part string, args ...string) (*exec.Cmd, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), EnvPart+"="+part, envSpeak+"="+speaks)
	if os.Getenv(envProc) == "" {
		cmd.Env = append(cmd.Env, envProc+"="+noProc)
	}
	return cmd, nil
}

// Start starts a part that goes on until its input ends, in a process group of its own: Ctrl-C is for us, who end it.
func Start(part string, stderr io.Writer) (cmd *exec.Cmd, in io.WriteCloser, out io.ReadCloser, err error) {
	if cmd, err = Command(part); err != nil {
		return nil, nil, nil, err
	}
	cmd.Stderr, cmd.SysProcAttr = stderr, &syscall.SysProcAttr{Setpgid: true}
	if in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, nil, err
	}
	if err = cmd.Start(); err != nil {
		err = fmt.Errorf("cannot start %s: %w", Program, err)
	}
	return cmd, in, out, err
}

// Part returns what this process is to be; empty: it was not started by [Command].
func Part() (string, error) {
	part := os.Getenv(EnvPart)
	if part == "" {
		return "", nil
	}
	if os.Getenv(envProc) == noProc {
		os.Unsetenv(envProc) //nolint:errcheck // it was set
	}
	if them := os.Getenv(envSpeak); them != speaks {
		return "", fmt.Errorf("lockstorm and %s are not of one version: install both anew, from the same version", Program)
	}
	return part, nil
}

// Version returns the version of an embedded server, such as "etcd 3.7.3, embedded".
func Version(ctx context.Context, server string) (string, error) {
	cmd, err := Command(Versions)
	if err != nil {
		return "", err
	}
	of := exec.CommandContext(ctx, cmd.Path)
	of.Env = cmd.Env
	out, err := of.Output()
	for line := range strings.Lines(string(out)) {
		if name, _, _ := strings.Cut(line, " "); name == server {
			return strings.TrimSpace(line) + ", embedded", nil
		}
	}
	return "", errors.Join(fmt.Errorf("%s does not know the server %s", cmd.Path, server), err)
}
