package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
)

// message is one line on the control channel between controller and worker. Events do
// not travel here: they go to the logs.
//
//	controller: config, start, arm, disarm, go, move, final, stop
//	worker:     ready, reached, done, failed
type message struct {
	Op        string        `json:"op"`
	Config    *workerConfig `json:"config,omitempty"`
	ID        int           `json:"id,omitempty"`    // of an arm
	Point     string        `json:"point,omitempty"` // arm: empty is any
	Nth       int           `json:"nth,omitempty"`
	Lock      string        `json:"lock,omitempty"`
	Grant     string        `json:"grant,omitempty"`
	Deadline  *int64        `json:"deadline,omitempty"`
	Nodes     []string      `json:"nodes,omitempty"`      // reached: that granted
	GrantedBy int           `json:"granted_by,omitempty"` // arm: only under a grant of so many nodes; -1: of all
	Node      string        `json:"node,omitempty"`       // move: this node ...
	Addr      string        `json:"addr,omitempty"`       // ... is now here
	Text      string        `json:"text,omitempty"`       // failed: why
}

// The operations of the control channel.
const (
	opConfig  = "config"  // who you are
	opReady   = "ready"   // connected to everything
	opStart   = "start"   // begin the workload
	opArm     = "arm"     // tell me when you reach this point, and stay
	opDisarm  = "disarm"  // no longer
	opReached = "reached" // I stand at an armed point
	opGo      = "go"      // go on
	opMove    = "move"    // a server has a new address
	opFinal   = "final"   // finish your section, then do one last section per lock
	opDone    = "done"    // I have
	opStop    = "stop"    // give up waiting, close your log, end
	opFailed  = "failed"  // I cannot go on
)

// workerConfig is all that a worker needs to know.
type workerConfig struct {
	Client    string            `json:"client"`
	Index     int64             `json:"index"`
	ClockBase int64             `json:"clock_base"`
	LogPath   string            `json:"log_path"`
	Dir       string            `json:"dir"` // shared by all clients
	RunID     string            `json:"run_id"`
	Run       history.Run       `json:"run"`
	Values    catalog.Values    `json:"values"` // of the workload
	Registers []string          `json:"registers"`
	Nodes     []cluster.Ref     `json:"nodes"`
	Addrs     map[string]string `json:"addrs"` // by node name; the register is one
	Retry     int64             `json:"retry_ns"`
	Timeout   int64             `json:"timeout_ns"`
}

// channel is one end of the control channel.
type channel struct {
	conn net.Conn
	in   *json.Decoder

	mu  sync.Mutex
	out *json.Encoder
}

func newChannel(conn net.Conn) *channel {
	return &channel{conn: conn, in: json.NewDecoder(conn), out: json.NewEncoder(conn)}
}

func (c *channel) send(m message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Encode(m)
}

func (c *channel) receive() (message, error) {
	var m message
	err := c.in.Decode(&m)
	return m, err
}

func (c *channel) close() error { return c.conn.Close() }

// controlFD is where a worker finds its end of the channel.
const controlFD = 3

// socketPair makes a connected pair: our end, and the file for the child.
func socketPair() (*channel, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a control channel: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	ch, err := fileChannel(ours)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ch, theirs, nil
}

// fileChannel makes a channel of an open socket; the file is closed.
func fileChannel(f *os.File) (*channel, error) {
	conn, err := net.FileConn(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("open the control channel: %w", err)
	}
	return newChannel(conn), nil
}
