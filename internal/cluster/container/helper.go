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
	"time"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/companion/wire"
)

// helper is the program that talks to Docker. It ends with its input, and what it has made ends with it, or by its own warden.
type helper struct {
	cmd    *exec.Cmd
	client *rpc.Client
	number atomic.Uint64
	text   io.Closer // what it prints, until it has ended
	said   sync.WaitGroup
}

const (
	giveUpLimit = 40 * time.Second // for a call that was told to stop, and may have to kill a container
	endLimit    = 2 * time.Minute  // for the helper, which removes what is left
)

// start starts a helper.
func start(say func(string)) (*helper, error) {
	text, said := io.Pipe()
	cmd, in, out, err := companion.Start(companion.Containers, said)
	if err != nil {
		return nil, err
	}
	h := &helper{cmd: cmd, client: rpc.NewClient(wire.Pipe{Reader: out, WriteCloser: in}), text: said}
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
	err = errors.Join(err, h.cmd.Wait(), h.text.Close())
	h.said.Wait()
	return err
}
