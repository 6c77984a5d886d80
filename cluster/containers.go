package cluster

import "github.com/lockstorm/lockstorm/compose"

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
