package cluster

import (
	"context"

	"github.com/lockstorm/lockstorm/compose"
)

// Containers starts servers in containers. Package cluster/container has the implementation for Docker.
type Containers interface {
	// Provider returns the provider of one run. If it is an [io.Closer], close it after the run.
	Provider(o ContainerOptions) Provider
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
	Network string       // see [Networks]; empty: the host's
	Say     func(string) // reports slow steps; nil: silent
}

// Networks for the servers of a run: this host's, or a bridge of their own.
const (
	NetworkHost   = "host"
	NetworkBridge = "bridge"
)

// Networks returns the words of --network.
func Networks() []string { return []string{NetworkHost, NetworkBridge} }
