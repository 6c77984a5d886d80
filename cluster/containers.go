package cluster

import (
	"context"
	"io"
	"os/exec"

	"github.com/lockstorm/lockstorm/compose"
)

// Containers starts servers in containers. Package cluster/container has the one for Docker; who has none in the catalogue
// compiles none in.
type Containers interface {
	// Provider is that of one run; where it is an [io.Closer], closing ends it.
	Provider(o ContainerOptions) Provider
	// Ward is the work of a process of its own that outlives the run: it removes what the run has left, once it
	// reads nothing more of in.
	Ward(ctx context.Context, in io.Reader, run string) error
	// State is the version of what runs containers, and the images that are here, by name.
	State(ctx context.Context) (version string, images map[string]string, err error)
	// Leftovers are the runs of which containers or networks are here and no living program of this host is.
	Leftovers(ctx context.Context) ([]Leftover, error)
	// Clean removes what dead runs have left.
	Clean(ctx context.Context) ([]Leftover, error)
}

// Leftover is what a run has left in containers.
type Leftover struct {
	Run        string   `json:"run"`
	Containers []string `json:"containers,omitempty"` // by name
	Networks   []string `json:"networks,omitempty"`   // by name
	Dead       bool     `json:"dead"`                 // its lockstorm is no more; else nobody here can tell
}

// ContainerOptions are what a provider of containers is made with.
type ContainerOptions struct {
	Images  compose.Choices
	Network string // see [Networks]; empty: the host's
	// Warden is a command whose process calls Ward; it is asked for before the first container. Nil: what a killed run
	// leaves stays.
	Warden func(run string) (*exec.Cmd, error)
	Say    func(string) // what takes long; nil: nobody is told
}

// The networks that the servers of a run may have: that of this host, or a bridge of their own.
const (
	NetworkHost   = "host"
	NetworkBridge = "bridge"
)

// Networks are the words of --network.
func Networks() []string { return []string{NetworkHost, NetworkBridge} }
