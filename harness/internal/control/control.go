// Package control is what the controller of a run and its workers say to each other: one
// JSON [Message] a line over a socket pair. Events do not travel here: they go to the logs.
//
//	controller: config, start, arm, disarm, go, move, final, stop, collect
//	worker:     ready, reached, done, failed, collected
package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// Message is one line on the channel between controller and worker.
type Message struct {
	Op     string  `json:"op"`
	Config *Config `json:"config,omitempty"`
	ID     int     `json:"id,omitempty"`    // of an arm
	Point  string  `json:"point,omitempty"` // arm: empty is any
	Nth    int     `json:"nth,omitempty"`
	Lock   string  `json:"lock,omitempty"`
	Grant  string  `json:"grant,omitempty"`
	Lease  string  `json:"lease,omitempty"` // reached: that the grant is under
	// Connection that the grant is on (reached).
	Connection string   `json:"connection,omitempty"`
	Deadline   *int64   `json:"deadline,omitempty"`
	Nodes      []string `json:"nodes,omitempty"`      // reached: that granted
	GrantedBy  int      `json:"granted_by,omitempty"` // arm: only under a grant of so many nodes; -1: of all
	Node       string   `json:"node,omitempty"`       // move: this node ...
	Addr       string   `json:"addr,omitempty"`       // ... is now here
	Text       string   `json:"text,omitempty"`       // failed: why; collected: the proof
	Length     int64    `json:"length_ns,omitempty"`  // collect: for how long
	Error      string   `json:"error,omitempty"`      // collected: why not
}

// The operations of the control channel.
const (
	Configure = "config"  // who you are
	Ready     = "ready"   // connected to everything
	Start     = "start"   // begin the workload
	Arm       = "arm"     // tell me when you reach this point, and stay
	Disarm    = "disarm"  // no longer
	Reached   = "reached" // I stand at an armed point
	Go        = "go"      // go on
	Move      = "move"    // a server has a new address
	Final     = "final"   // finish your section, then do one last section per lock
	Done      = "done"    // I have
	Stop      = "stop"    // give up waiting, close your log, end
	Failed    = "failed"  // I cannot go on
	Collect   = "collect" // have the garbage collector of your lock run
	Collected = "collected"
)

// Config is all that a worker needs to know. Names are looked up, values are parsed and defaults are filled in.
type Config struct {
	Head history.Run `json:"head"` // what its log begins with; it reads nothing of it

	Client    string `json:"client"`
	Index     int64  `json:"index"`
	Seed      uint64 `json:"seed"`
	RunID     string `json:"run_id"`
	LogPath   string `json:"log_path"`
	Dir       string `json:"dir"` // shared by all clients
	ClockBase int64  `json:"clock_base"`
	StallsAt  int64  `json:"stalls_at_ns"` // a ticker that late is on record

	Backend Choice            `json:"backend"`
	TTL     int64             `json:"ttl_ns"`
	Retry   int64             `json:"retry_ns"`
	Timeout int64             `json:"timeout_ns"`
	Nodes   []cluster.Ref     `json:"nodes"`
	Addrs   map[string]string `json:"addrs"` // by node name; the register is one

	Workload  Choice   `json:"workload"`
	Locks     []string `json:"locks"`
	Clients   int      `json:"clients"`
	Registers []string `json:"registers"`
	Register  string   `json:"register,omitempty"` // the store that the registers are in; empty: our own server

	Fencing  string `json:"fencing"`
	NoTokens bool   `json:"no_tokens,omitempty"`
	Trusting bool   `json:"trusting,omitempty"`  // it believes in its lock whatever it learns
	OnlyTold bool   `json:"only_told,omitempty"` // it keeps no deadline
	// AsksMethod: it goes by a method of its library, and asks that once a deadline has passed.
	AsksMethod bool `json:"asks_method,omitempty"`
}

// Choice is one of a catalogue, by name, with the values of its parameters.
type Choice struct {
	Name   string         `json:"name"`
	Values catalog.Values `json:"values"`
}

// Channel is one end of the control channel.
type Channel struct {
	conn net.Conn
	in   *json.Decoder

	mu     sync.Mutex            // one Send at a time
	broken atomic.Pointer[error] // why it was given up
}

// New makes a channel of a connection, which it takes over.
func New(conn net.Conn) *Channel { return &Channel{conn: conn, in: json.NewDecoder(conn)} }

// Send writes one message, within SendLimit; it is safe for concurrent use.
func (c *Channel) Send(m Message) error {
	b, err := encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.write(b, SendLimit)
	return err
}

// encode is a message as a line.
func encode(m Message) ([]byte, error) {
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

// write sends what it can within the limit.
func (c *Channel) write(b []byte, limit time.Duration) (int, error) {
	if err := c.conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return 0, err
	}
	return c.conn.Write(b)
}

// Receive waits for the next message.
func (c *Channel) Receive() (Message, error) {
	var m Message
	err := c.in.Decode(&m)
	if why := c.broken.Load(); err != nil && why != nil {
		err = *why
	}
	return m, err
}

// giveUp ends Receive with an error.
func (c *Channel) giveUp(err error) {
	c.broken.Store(&err)
	_ = c.conn.SetReadDeadline(time.Unix(1, 0)) // of a closed connection nothing is received anyway
}

// Close closes the connection.
func (c *Channel) Close() error { return c.conn.Close() }

// FD is where a worker finds its end of the channel.
const FD = 3

// SocketPair makes a connected pair: our end, and the file for the child.
func SocketPair() (*Channel, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create the control channel between lockstorm and a client: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	ch, err := FromFile(ours)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ch, theirs, nil
}

// FromFile makes a channel of an open socket; the file is closed.
func FromFile(f *os.File) (*Channel, error) {
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("the client cannot open its control channel to lockstorm: %w", err)
	}
	return New(conn), nil
}
