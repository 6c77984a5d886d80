package cluster

import (
	"context"
	"io"
	"os/exec"

	"github.com/lockstorm/lockstorm/compose"
)

// Containers starts servers in containers. Package cluster/container has the implementation for Docker; a program
// without it in the catalogue does not compile it in.
type Containers interface {
	// Provider returns the provider of one run. If it is an [io.Closer], close it after the run.
	Provider(o ContainerOptions) Provider
	// Ward runs in a process of its own that outlives the run. Once in ends, it removes what the run has left.
	Ward(ctx context.Context, in io.Reader, run string) error
	// State returns the version of the container runtime, and the images on this host, by name.
	State(ctx context.Context) (version string, images map[string]string, err error)
	// Leftovers returns the runs that have containers or networks here but no living program on this host.
	Leftovers(ctx context.Context) ([]Leftover, error)
	// Clean removes the leftovers of dead runs and returns them.
	Clean(ctx context.Context) ([]Leftover, error)
}

// Leftover lists the containers and networks that a run has left.
type Leftover struct {
	Run        string   `json:"run"`
	Containers []string `json:"containers,omitempty"` // by name
	Networks   []string `json:"networks,omitempty"`   // by name
	Dead       bool     `json:"dead"`                 // its lockstorm has ended; false: this host cannot tell
}

// ContainerOptions are the options of a container provider.
type ContainerOptions struct {
	Images  compose.Choices
	Network string // see [Networks]; empty: the host's
	// Warden returns a command whose process calls Ward; it is called before the first container is started. nil: a
	// killed run leaves its containers behind.
	Warden func(run string) (*exec.Cmd, error)
	Say    func(string) // reports slow steps; nil: silent
}

// Networks for the servers of a run: this host's, or a bridge of their own.
const (
	NetworkHost   = "host"
	NetworkBridge = "bridge"
)

// Networks returns the words of --network.
func Networks() []string { return []string{NetworkHost, NetworkBridge} }
