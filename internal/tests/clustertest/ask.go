package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ErrRefused says that the server did nothing, and answered.
var ErrRefused = errors.New("refused")

const askLimit = time.Second // for one answer, where ctx has no earlier end

// Ask sends one request on a connection of its own and returns the answer without its sign.
// The error of a request that was refused is ErrRefused.
func Ask(ctx context.Context, addr string, words ...string) (string, error) {
	return askFrom(ctx, "", addr, words...)
}

// askFrom calls from a source address, by which links tell callers apart.
func askFrom(ctx context.Context, source, addr string, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	answer, err := askOnce(ctx, source, addr, words)
	if end, _ := ctx.Deadline(); err != nil && !time.Now().Before(end) {
		<-ctx.Done() // a connection may notice first: who asked must see that its time is over
	}
	return answer, err
}

func askOnce(ctx context.Context, source, addr string, words []string) (string, error) {
	c, err := dialFrom(ctx, source, addr)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // it was only asked
	end, _ := ctx.Deadline()
	if err := c.SetDeadline(end); err != nil {
		return "", err
	}
	return roundTrip(c, words...)
}

func dialFrom(ctx context.Context, source, addr string) (net.Conn, error) {
	var d net.Dialer
	if source != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	return d.DialContext(ctx, "tcp", addr)
}

func roundTrip(c net.Conn, words ...string) (string, error) {
	if _, err := fmt.Fprintln(c, strings.Join(words, " ")); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("no answer to %s: %w", words[0], err)
	}
	line = strings.TrimSpace(line)
	if text, ok := strings.CutPrefix(line, "+"); ok {
		return text, nil
	}
	return "", fmt.Errorf("%w: %s", ErrRefused, strings.TrimPrefix(line, "-"))
}
