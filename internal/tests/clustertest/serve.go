package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// handler answers a request; done says that the connection is not to be read any more.
type handler func(c net.Conn, words []string) (answer string, done bool)

// serve answers requests at addr until ctx ends.
func serve(ctx context.Context, addr string, answer handler) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := context.AfterFunc(ctx, func() { l.Close() }) //nolint:errcheck // it ends here
	defer stop()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		wg.Go(func() {
			closing := context.AfterFunc(ctx, func() { c.Close() }) //nolint:errcheck // the caller may have closed it first
			defer closing()
			defer c.Close() //nolint:errcheck // the caller may have closed it first
			converse(c, answer)
		})
	}
}

func converse(c net.Conn, answer handler) {
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		text, done := answer(c, words)
		if done {
			return
		}
		if _, err := fmt.Fprintln(c, text); err != nil {
			return
		}
	}
}

func pid() string { return "+" + strconv.Itoa(os.Getpid()) }

func unknown(words []string) string { return "-nobody knows " + words[0] }
