package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/lockstorm/lockstorm/compose"
)

// Recipe says how to start one server, and what is special about its store. Args, Files and Prepare are text/template
// sources that may use {{.Dir}} (the node's own folder), {{.Host}}, {{.Port}}, {{.PortNamed "PORT"}}, and where
// servers call each other, {{.Source}} (the address to call others from), {{.PeerHost}} with {{.PortOf "NODE"}} or
// {{.PeerPort "NODE" "PORT"}} (where to reach them), {{.Follows}} (whether it follows another), and {{.OwnAddress}}
// (whether it has one, so that callers come from others). Files are written once, and the server may change them;
// Fresh ones are written before each start, also for an embedded server.
type Recipe struct {
	Name    string
	Role    string            // at the start
	Data    bool              // holds data: faults choose among these unless others are named
	Hidden  bool              // is called by the servers in front of it, and not by clients
	Binary  string            // looked up on PATH, then in Dirs
	Dirs    []string          // folders of its package that are not on PATH; a pattern stands for its last match
	Package string            // package that provides it, for doctor
	Needs   []string          // files beside the binary without which it does not start
	Version []string          // arguments that make it print its version
	Args    []string          // arguments
	Env     map[string]string // added to the environment
	Image   string            // its container image, by name in the table of images; empty: none
	// OwnImage is the image of a store of another module; Image is its name then.
	OwnImage compose.Image
	// Wrap has shell lines to run before the program in a container, where images differ from the package: the program
	// gets what they export.
	Wrap  string
	Files map[string]string // configuration files, by name below the node's folder
	Fresh map[string]string // files that name ports: written before each start
	// Prepare lists commands that make a data directory: they run one after the other in the node's folder before its
	// first start.
	Prepare [][]string
	// Template is a folder that is made once on this host, and copied before Prepare; nil: none.
	Template *Template
	// Contained is true if the server refuses to run as root, and its helpers leave its process group.
	Contained bool
	// Sprawls is true if children of the server may leave its process group; they end with it.
	Sprawls bool
	// Stop is the signal that ends it; 0: SIGTERM.
	Stop syscall.Signal
	// Ports are those that it listens on beside its main one. Peering says by which address other servers reach the main
	// one.
	Ports   []Port
	Peering Peering
	// Ready returns nil once the server at addr serves. If pid is not 0, that process must be the one that answers.
	Ready func(ctx context.Context, addr string, pid int) error
	// ReadyAt, if not nil, is called after Ready, with the server's place.
	ReadyAt func(ctx context.Context, p Place) error
	// Hint returns what to do about a server that ended before it served, given its output; empty: unknown. It may be
	// nil.
	Hint  func(said string) string
	Stage int // servers of a later stage start once all of an earlier one serve
	// Admin returns a value with the capabilities of the server: see [Roler] and the others. addr returns where it
	// listens now. nil: it has none.
	Admin func(addr func() string) any
	// Refusal reports whether an answer on the wire says that nothing was done. nil: that cannot be told, and no answer
	// can be lost on purpose.
	Refusal func(answer []byte) bool
	// Requests are words that tell the requests of locks from others on the wire. None: its protocol is not text.
	Requests []string
	// Policies are the store's names for the ways in which an Evictor drops keys, the default first.
	Policies []string
	// Login logs in on a connection to somebody else's server that wants a password; nil: it cannot. Protocols are
	// offered to servers that want TLS.
	Login     func(c net.Conn, user, password string) error
	Protocols []string
	// Embedded serves the same protocol inside our own binary until ctx ends. EmbeddedVersion names it.
	Embedded        func(ctx context.Context, addr string) error
	EmbeddedVersion string
	// Beside are the name of an embedded server in the program lockstorm-servers, and its arguments: for what takes long to
	// compile. Without Embedded and Beside there is no embedded server.
	Beside []string
}

// Template is a folder that takes long to make and is the same for every node.
type Template struct {
	Dir  string     // name below the node's folder
	Make [][]string // commands that make it under that name, run in an empty folder
	// Segments is true if the commands leave segments in /dev/shm when they are killed. As processes of this host they
	// get a /dev/shm of their own.
	Segments bool
}

// Port is an additional port of a server.
type Port struct {
	Name    string
	Peering Peering
	// Greeting rewrites the first bytes that a peer sends at a port that is Pairwise, because they name an address at
	// which the peer would be called back past all links. back is the address at which the called server reaches the
	// caller. nil: nothing is rewritten.
	Greeting Greeting
}

// Greeting reads the beginning of what a caller sends and returns what to pass on; an error closes its connection.
type Greeting = func(said io.Reader, back string) ([]byte, error)

// Peering says by which address the other servers of a topology reach a port.
type Peering int

// Kinds of addresses for peers. Behind each is a link that faults can break.
const (
	NoPeers   Peering = iota // they do not call it
	Announced                // one address for all; it tells callers apart by [Place].Source
	Pairwise                 // an address of its own for each caller
	BySocket                 // one address for all; it tells callers apart by the owner of their socket
)

func (r Recipe) peers() bool {
	for _, p := range r.Ports {
		if p.Peering != NoPeers {
			return true
		}
	}
	return r.Peering != NoPeers
}

// ports lists all ports, the main one, without a name, first.
func (r Recipe) ports() []Port { return append([]Port{{Peering: r.Peering}}, r.Ports...) }

var goodNode = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Valid returns what is wrong with a topology, in a sentence. The catalogue calls it when the topology is added.
func (t Topology) Valid() error {
	seen := map[string]bool{}
	for _, r := range t.Nodes {
		if seen[r.Name] {
			return fmt.Errorf("two nodes of the topology are named %q", r.Name)
		}
		seen[r.Name] = true
		if err := r.valid(); err != nil {
			return fmt.Errorf("node %q: %w", r.Name, err)
		}
	}
	if (t.FailOver > 0) != (t.Fleet != nil) {
		return errors.New("only one of the fields FailOver and Fleet is set: set both, or neither")
	}
	return nil
}

func (r Recipe) valid() error {
	switch {
	case !goodNode.MatchString(r.Name):
		return errors.New("the name of a node may contain only lower case letters, digits and -, as in store-1")
	case r.Binary == "" && !r.Embeds():
		return errors.New("the fields `Binary` and `Embedded` are empty, so there is no server to start: set one of them")
	case r.Ready == nil:
		return errors.New("the field `Ready` is missing: set it to a function that checks that the server answers")
	case r.Embedded != nil && r.EmbeddedVersion == "":
		return errors.New("the field `EmbeddedVersion` is empty: set it to the version of the embedded server")
	}
	return errors.Join(r.validPorts(), r.validTemplates())
}

func (r Recipe) validPorts() error {
	seen := map[string]bool{}
	for _, p := range r.Ports {
		switch {
		case p.Name == "":
			return errors.New("a port in the field Ports has no name: give it one (only the main port has none)")
		case seen[p.Name]:
			return fmt.Errorf("two ports of the node are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

// validTemplates reads the templates; what they name is known only when the server starts.
func (r Recipe) validTemplates() error {
	texts := slices.Clone(r.Args)
	for _, command := range r.Commands() {
		if len(command) == 0 {
			return errors.New("the field Prepare or Template contains an empty command")
		}
		texts = append(texts, command...)
	}
	for _, text := range texts {
		if err := readable(text); err != nil {
			return fmt.Errorf("argument %q: %w", text, err)
		}
	}
	for name, text := range merged(r.Files, r.Fresh) {
		if err := readable(text); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
	}
	return nil
}

// read are templates without an error: nodes of a topology and of others have the same, and every worker of a run asks anew.
var read sync.Map

func readable(text string) error {
	if _, ok := read.Load(text); ok || !strings.Contains(text, "{{") {
		return nil
	}
	if _, err := parse(text); err != nil {
		return err
	}
	read.Store(text, true)
	return nil
}

// Commands returns all commands that run before the first start, as templates.
func (r Recipe) Commands() [][]string {
	if r.Template == nil {
		return r.Prepare
	}
	return slices.Concat(r.Template.Make, r.Prepare)
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// ContainerImage returns the container image of the server.
func (r Recipe) ContainerImage() (compose.Image, error) {
	if r.OwnImage.Name != "" {
		return r.OwnImage, nil
	}
	return compose.Find(r.Image)
}

// Embeds reports whether there is an embedded server.
func (r Recipe) Embeds() bool { return r.Embedded != nil || len(r.Beside) > 0 }
