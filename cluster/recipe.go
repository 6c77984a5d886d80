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

// Recipe says how one server is started, and what is peculiar to its store. Args, Files
// and Prepare are text/template sources that may use {{.Dir}} (the node's own folder),
// {{.Host}}, {{.Port}}, {{.PortNamed "PORT"}}, and where servers call each other,
// {{.Source}} (the address to call others from), {{.PeerHost}} with {{.PortOf "NODE"}} or
// {{.PeerPort "NODE" "PORT"}} (where to reach them), {{.Follows}} (whether it follows another), and {{.OwnAddress}}
// (whether it has one, so that callers come from others). Files are written once: what a server makes of them stays; Fresh ones,
// also for an embedded server, each time.
type Recipe struct {
	Name    string
	Role    string            // at the start
	Data    bool              // it holds data: faults choose among these, unless others are named
	Binary  string            // looked up on PATH, then in Dirs
	Dirs    []string          // folders of its package that are not on PATH; of a pattern, the last match
	Package string            // what provides it, for doctor
	Needs   []string          // files beside the binary, without which it does not start
	Version []string          // arguments that make it print its version
	Args    []string          // arguments
	Env     map[string]string // added to the environment
	Image   string            // what it runs from in a container, by its name in the table of images; empty: nothing
	// OwnImage is what a store of another module runs from, whose name is Image then.
	OwnImage compose.Image
	// Wrap are lines of a shell that are run before the program in a container, where images differ
	// from the package: what they export, the program has.
	Wrap  string
	Files map[string]string // configuration files, by name below the node's folder
	Fresh map[string]string // files that name ports: written again before each start
	// Prepare are commands that are run one after the other in the node's folder before its
	// first start: what makes a data directory.
	Prepare [][]string
	// Template is a folder that is made once on this host, and copied before Prepare; nil: none.
	Template *Template
	// Contained: it refuses to run as root, and its helpers leave its process group.
	Contained bool
	// Sprawls: what it starts may leave its process group, and ends with it.
	Sprawls bool
	// Stop is the signal that ends it; 0: SIGTERM.
	Stop syscall.Signal
	// Ports are those that it listens on beside its main one; Peering says by which address
	// other servers reach the main one.
	Ports   []Port
	Peering Peering
	// Ready returns nil once the server at addr serves; pid, where it is not 0, is the
	// process that must be the one that answers.
	Ready func(ctx context.Context, addr string, pid int) error
	// ReadyAt is asked after Ready where it is not nil, with where the server is.
	ReadyAt func(ctx context.Context, p Place) error
	// Hint is what to do about an end before it served, by what the server has said; empty: nobody knows. It
	// may be nil.
	Hint  func(said string) string
	Stage int // servers of a later stage start when all of an earlier one serve
	// Admin makes what can be asked of the server and done to it: see [Roler] and the others. addr
	// is where it listens, whenever it is called. Nil: nothing can.
	Admin func(addr func() string) any
	// Refusal reports whether an answer on the wire says that nothing was done; nil where
	// nobody can tell, and then no answer can be lost on purpose.
	Refusal func(answer []byte) bool
	// Requests are words by which a request can be told from others on the wire: those that locks send. None: its protocol is no
	// text.
	Requests []string
	// Policies are the words of the store by which an Evictor drops keys, the default first.
	Policies []string
	// Login is what is said first on a connection to a server of somebody else that wants a password;
	// nil: nobody can log in. Protocols are those that are asked for where it wants TLS.
	Login     func(c net.Conn, user, password string) error
	Protocols []string
	// Embedded serves the same protocol inside our own binary until ctx ends; nil where
	// nothing can stand in. EmbeddedVersion says what that is.
	Embedded        func(ctx context.Context, addr string) error
	EmbeddedVersion string
}

// Template is a folder that takes long to make and is the same for every node.
type Template struct {
	Dir  string     // its name below the node's folder
	Make [][]string // commands, run in an empty folder, that make it there, under that name
	// Segments: what the commands have in /dev/shm stays there when they are killed. As processes of this host
	// they get a /dev/shm of their own.
	Segments bool
}

// Port is a further port of a server.
type Port struct {
	Name    string
	Peering Peering
	// Greeting rewrites what a peer says first at a port that is Pairwise, where it would be
	// called back past all links by what it says: it reads that, and returns what is passed on
	// instead. back is the address by which the called one reaches the caller. Nil: nothing is.
	Greeting Greeting
}

// Greeting rewrites the beginning of what a caller sends; an error closes its connection.
type Greeting = func(said io.Reader, back string) ([]byte, error)

// Peering says by which address the other servers of a topology reach a port.
type Peering int

// The kinds of addresses for peers. Behind each is a link that faults can break.
const (
	NoPeers   Peering = iota // they do not call it
	Announced                // one address for all; it tells callers apart by [Place].Source
	Pairwise                 // an address of its own for each caller
	BySocket                 // one address for all; callers are told apart by whose socket calls
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

// Valid says in a sentence what is wrong with a topology: it is asked when the topology is
// added to a catalogue.
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
		return errors.New("only one of the fields FailOver (duration of a fail-over) and Fleet (the servers that decide on a " +
			"fail-over) is set: set both fields, or neither")
	}
	return nil
}

func (r Recipe) valid() error {
	switch {
	case !goodNode.MatchString(r.Name):
		return errors.New("the name of a node may contain only lower case letters, digits and -, as in store-1")
	case r.Binary == "" && r.Embedded == nil:
		return errors.New("the fields `Binary` and `Embedded` are empty, so there is no server to start: set one of them")
	case r.Ready == nil:
		return errors.New("the field `Ready` is missing: set it to a function that checks that the server answers")
	case r.Embedded != nil && r.EmbeddedVersion == "":
		return errors.New("the field `EmbeddedVersion` is empty: set it to the version of the embedded server, because the record " +
			"must name this version")
	}
	return errors.Join(r.validPorts(), r.validTemplates())
}

func (r Recipe) validPorts() error {
	seen := map[string]bool{}
	for _, p := range r.Ports {
		switch {
		case p.Name == "":
			return errors.New("a port in the field Ports has no name: give it a name (only the main port needs no name, and the main " +
				"port is not in this field)")
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

// Commands are all that are run before the first start, as templates.
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

// ContainerImage is what the server runs from in a container.
func (r Recipe) ContainerImage() (compose.Image, error) {
	if r.OwnImage.Name != "" {
		return r.OwnImage, nil
	}
	return compose.Find(r.Image)
}
