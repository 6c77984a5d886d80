package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/wire"
)

// helper is the program that talks to Docker. It ends with its input, and what it has made ends with it, or by its own warden.
type helper struct {
	cmd    *exec.Cmd
	client *rpc.Client
	number atomic.Uint64
	said   sync.WaitGroup
}

const (
	giveUpLimit = 40 * time.Second // for a call that was told to stop, and may have to kill a container
	endLimit    = 2 * time.Minute  // for the helper, which removes what is left
)

// start starts a helper in a process group of its own: Ctrl-C is for us, who tell it what to do then.
func start(say func(string)) (*helper, error) {
	cmd, err := companion.Command(companion.Containers)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	text, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", companion.Program, err)
	}
	h := &helper{cmd: cmd, client: rpc.NewClient(wire.Pipe{Reader: out, WriteCloser: in})}
	h.said.Go(func() { pass(text, say) })
	return h, nil
}

// pass passes on what a helper prints: to people, if it says so, else to our standard error.
func pass(text io.Reader, say func(string)) {
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line, isFor := strings.CutPrefix(lines.Text(), wire.Say)
		switch {
		case !isFor:
			fmt.Fprintln(os.Stderr, line)
		case say != nil:
			say(line)
		}
	}
}

// call waits for the answer, which comes soon after the end of ctx.
func (h *helper) call(ctx context.Context, c wire.Call) (wire.Answer, error) {
	var a wire.Answer
	c.Number = h.number.Add(1)
	call := h.client.Go(wire.Do, c, &a, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
	case <-ctx.Done():
		h.client.Go(wire.Stop, c.Number, new(struct{}), make(chan *rpc.Call, 1))
		select {
		case <-call.Done:
		case <-time.After(giveUpLimit):
			return wire.Answer{}, fmt.Errorf("%s (%s) gave no answer: %w", companion.Program, c.What, ctx.Err())
		}
	}
	switch {
	case call.Error != nil:
		return a, fmt.Errorf("%s (%s): %w", companion.Program, c.What, call.Error)
	case a.Failure != nil && ctx.Err() != nil:
		return a, fmt.Errorf("%w (%w)", a.Failure, ctx.Err())
	case a.Failure != nil:
		return a, a.Failure
	}
	return a, nil
}

// end closes the helper's input and waits for its end.
func (h *helper) end() error {
	err := h.client.Close()
	late := time.AfterFunc(endLimit, func() { h.cmd.Process.Kill() }) //nolint:errcheck // it has ended then
	defer late.Stop()
	h.said.Wait()
	return errors.Join(err, h.cmd.Wait())
}
