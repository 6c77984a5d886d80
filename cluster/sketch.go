package cluster

import (
	"path"

	"github.com/lockstorm/lockstorm/history"
)

// Sketch returns where the servers of a topology would be on one host, with fixed ports from port on, all in a folder
// of the same path, and reaching each other directly. It is for files with which people start the servers themselves.
// It also returns the port after the last.
func Sketch(t Topology, dir string, port int) ([]Place, int) {
	places := make([]Place, len(t.Nodes))
	for i, r := range t.Nodes {
		places[i] = Place{
			Dir: path.Clean(dir), Host: Loopback, PeerHost: Loopback, Port: port, Ports: map[string]int{},
			Source: sourceOf(i), Follows: r.Role == history.RoleReplica, Peers: map[string]int{},
		}
		port++
		for _, p := range r.Ports {
			places[i].Ports[p.Name] = port
			port++
		}
	}
	for i, r := range t.Nodes {
		for _, p := range r.ports() {
			at := places[i].Port
			if p.Name != "" {
				at = places[i].Ports[p.Name]
			}
			for j := range places {
				places[j].Peers[r.Name+" "+p.Name] = at
			}
		}
	}
	return places, port
}
