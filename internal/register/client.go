package register

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
)

// Client is one client's connection to the register; its calls are not concurrent. It
// connects on first use and again after an error.
type Client struct {
	Dial    func(ctx context.Context) (net.Conn, error)
	Timeout time.Duration // longest wait for one answer

	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

// Do sends one request. Errors are those of package backends: ErrNotSent and
// ErrStaleToken are definite, everything else is of unknown outcome.
func (c *Client) Do(ctx context.Context, req Request) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if err := c.connect(ctx); err != nil {
		return 0, fmt.Errorf("%w: %w", backends.ErrNotSent, err)
	}
	resp, err := c.exchange(ctx, req)
	if err != nil {
		c.conn.Close() //nolint:errcheck // it is broken already
		c.conn = nil
		return 0, err
	}
	switch resp.Error {
	case "":
		return resp.Value, nil
	case history.ErrStaleToken:
		return resp.Value, backends.ErrStaleToken
	default:
		return 0, fmt.Errorf("unexpected answer of the register (the data store): %q", resp.Error)
	}
}

func (c *Client) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := c.Dial(ctx)
	if err != nil {
		return err
	}
	c.conn, c.in, c.out = conn, json.NewDecoder(bufio.NewReader(conn)), json.NewEncoder(conn)
	return nil
}

func (c *Client) exchange(ctx context.Context, req Request) (Response, error) {
	var resp Response
	deadline, _ := ctx.Deadline()
	if err := c.conn.SetDeadline(deadline); err != nil {
		return resp, err
	}
	if err := c.out.Encode(req); err != nil {
		return resp, err
	}
	err := c.in.Decode(&resp)
	return resp, err
}

// Close ends the connection.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}
