package adapter

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// conn is the pair of pipes to one adapter: it matches answers with what was asked, and hands notices on.
type conn struct {
	in       *os.File // we write
	out      *os.File // we read
	now      func() int64
	notice   func(l line, at int64) error // in order of arrival; it must not block
	unwanted func(attempt int64)          // is told of a grant that nobody waits for any more; nil: nobody asks for a lock
	prepares chan string                  // what it does before it says what it is

	writing sync.Mutex

	mu      sync.Mutex
	last    int64
	waiting map[int64]*call
	late    map[int64]bool // nobody waits for its answer any more
	broken  error          // why nothing can be asked any more

	ended chan struct{} // the reader has
}

// call is what was asked, and waits for its answer.
type call struct {
	sent   int64 // before it was written
	answer chan answer
}

// answer is a line with the moment at which it was read, or why there is none.
type answer struct {
	line
	sent, at int64
	err      error
}

// Errors of what gets no answer.
var (
	errEnded  = fmt.Errorf("the adapter has ended: %w", io.ErrUnexpectedEOF)
	errNoTime = fmt.Errorf("the adapter did not answer a request in time: %w", os.ErrDeadlineExceeded)
)

// BreachError is how an adapter broke the protocol.
type BreachError struct{ Text string }

// Error is the sentence.
func (e *BreachError) Error() string { return "protocol violation: " + e.Text }

func breach(format string, args ...any) error { return &BreachError{fmt.Sprintf(format, args...)} }

// isBreach reports whether an error, or one in it, is a breach.
func isBreach(err error) bool { return errors.As(err, new(*BreachError)) }

// writeLimit is how long an adapter may leave a line unread.
const writeLimit = 5 * time.Second

func newConn(in, out *os.File, now func() int64, notice func(line, int64) error) *conn {
	c := &conn{
		in: in, out: out, now: now, notice: notice, waiting: map[int64]*call{}, late: map[int64]bool{},
		ended: make(chan struct{}), prepares: make(chan string, 1),
	}
	go c.read()
	return c
}

// ask sends a request and returns what its answer will come on.
func (c *conn) ask(r request) (int64, *call, error) {
	c.mu.Lock()
	if c.broken != nil {
		defer c.mu.Unlock()
		return 0, nil, c.broken
	}
	c.last++
	r.ID = c.last
	one := &call{answer: make(chan answer, 1), sent: c.now()}
	c.waiting[r.ID] = one
	c.mu.Unlock()
	return r.ID, one, c.send(r)
}

// send writes a line.
func (c *conn) send(r request) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.in.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return c.fail(errEnded)
	}
	_, err = c.in.Write(append(b, '\n'))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.fail(breach("the adapter has not read its pipe for %v", writeLimit))
	}
	return c.fail(errEnded)
}

// await waits for an answer; afterwards one that comes late is taken by nobody.
func (c *conn) await(id int64, one *call, limit time.Duration) answer {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case a := <-one.answer:
		return a
	case <-t.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case a := <-one.answer:
		return a
	default:
	}
	delete(c.waiting, id)
	c.late[id] = true
	return answer{err: errNoTime}
}

// idle reports whether everything is answered.
func (c *conn) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken == nil && len(c.waiting)+len(c.late) == 0
}

// leave asks for something whose answer nobody waits for.
func (c *conn) leave(r request) error {
	id, _, err := c.ask(r)
	if err == nil {
		c.mu.Lock()
		if c.waiting[id] != nil {
			delete(c.waiting, id)
			c.late[id] = true
		}
		c.mu.Unlock()
	}
	return err
}

// call asks, and waits for the answer.
func (c *conn) call(r request, limit time.Duration) answer {
	id, one, err := c.ask(r)
	if err != nil {
		return answer{err: err}
	}
	return c.await(id, one, limit)
}

// read takes lines until the pipe ends.
func (c *conn) read() {
	defer close(c.ended)
	s := bufio.NewScanner(c.out)
	s.Buffer(make([]byte, 0, 4<<10), maxLine)
	for s.Scan() {
		at := c.now()
		if err := c.take(s.Bytes(), at); err != nil {
			c.fail(err) //nolint:errcheck // it is the error
			return
		}
	}
	err := errEnded
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		err = breach("the adapter wrote a line of more than %d bytes", maxLine)
	}
	c.fail(err) //nolint:errcheck // it is the error
}

// take hands one line on.
func (c *conn) take(b []byte, at int64) error {
	l, err := parse(b)
	if err != nil {
		return &BreachError{err.Error()}
	}
	switch l.Notice {
	case "":
	case notePreparing:
		return c.preparing(l.Message)
	default:
		return c.notice(l, at)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.waiting[l.ID]
	switch {
	case one != nil:
		delete(c.waiting, l.ID)
		one.answer <- answer{line: l, sent: one.sent, at: at}
		return nil
	case c.late[l.ID]:
		delete(c.late, l.ID)
		if l.Answer == ansGranted && c.unwanted != nil {
			go c.unwanted(l.ID)
		}
		return nil
	case l.ID > 0 && l.ID <= c.last:
		return breach("the adapter answered request %d twice", l.ID)
	}
	return breach("the adapter answered request %d, which nobody sent", l.ID)
}

// preparing hands on what the adapter does before it says what it is; what nobody has taken yet makes room for it.
func (c *conn) preparing(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last > 1 {
		return breach("the adapter sent %s after it had described itself", notePreparing)
	}
	select {
	case <-c.prepares:
	default:
	}
	c.prepares <- what
	return nil
}

// fail ends the connection: nothing is asked any more, and what waits is of unknown outcome. It returns
// the first reason.
func (c *conn) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = cmp.Or(c.broken, err)
	for id, one := range c.waiting {
		delete(c.waiting, id)
		one.answer <- answer{err: c.broken}
	}
	return c.broken
}

// why is the reason for which nothing can be asked any more; nil: it can.
func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}
