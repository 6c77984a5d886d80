package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// Names of the topologies.
const (
	Single = "etcd-single"
	Three  = "etcd-three"
)

// Topologies returns the sets of etcd servers that the locks run on.
func Topologies() []cluster.Topology {
	ensemble := cluster.Topology{
		Name: Three, Doc: "three servers (heartbeat 50 ms, election timeout 250 ms); acknowledged when two have it on disk",
		Recovery: 5 * time.Second, FailOver: time.Second, TTL: 2 * time.Second,
		Fleet: cluster.Elected, Ready: cluster.Together(standing, serves),
		Nodes: []cluster.Recipe{node(1, 3), node(2, 3), node(3, 3)},
	}
	return []cluster.Topology{
		{
			Name: Single, Doc: "one server; data survives a restart",
			Nodes: []cluster.Recipe{node(1, 1)}, Recovery: 3 * time.Second,
		},
		ensemble,
	}
}

func nodeName(i int) string { return fmt.Sprintf("etcd-%d", i) }

// configFile is read by the program and by the embedded server alike.
const configFile = "etcd.yml"

// peerPort is where members call each other. The address that they know of each other is that of
// a link; it is part of what they are, and stays.
const peerPort = "peer"

// node is a member. Its time-outs are some tenths of the defaults.
func node(i, of int) cluster.Recipe {
	r := cluster.Recipe{
		Name: nodeName(i), Role: history.RoleFollower, Data: true, Binary: "etcd", Package: "etcd-server",
		Version: []string{"--version"}, Image: "etcd",
		Args:  []string{"--config-file", configFile},
		Ready: answers, Admin: newAdmin, Refusal: refusal, Protocols: []string{"h2"},
		Beside: []string{companion.Etcd, configFile},
	}
	if of == 1 {
		r.Role, r.Ready = history.RoleLeader, serves
	}
	r.Ports = []cluster.Port{{Name: peerPort, Peering: cluster.BySocket}}
	var members []string
	for n := 1; n <= of; n++ {
		members = append(members, fmt.Sprintf("%s=http://{{.PeerHost}}:{{.PeerPort %q %q}}", nodeName(n), nodeName(n), peerPort))
	}
	own := fmt.Sprintf("http://{{.PeerHost}}:{{.PeerPort %q %q}}", nodeName(i), peerPort)
	lines := []string{
		"name: " + nodeName(i), "data-dir: data",
		"listen-client-urls: http://{{.Host}}:{{.Port}}", "advertise-client-urls: http://{{.Host}}:{{.Port}}",
		fmt.Sprintf("listen-peer-urls: http://{{.Host}}:{{.PortNamed %q}}", peerPort), "initial-advertise-peer-urls: " + own,
		"initial-cluster: " + strings.Join(members, ","), "initial-cluster-state: new",
		"heartbeat-interval: 50", "election-timeout: 250", "log-level: warn", "logger: zap", "log-outputs: [stderr]",
	}
	r.Fresh = map[string]string{configFile: strings.Join(lines, "\n") + "\n"}
	return r
}

// answers waits until the server's own process answers, with a quorum or without.
func answers(ctx context.Context, addr string, pid int) error {
	if _, err := status(ctx, addr); err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}

// serves waits until the server takes requests.
func serves(ctx context.Context, addr string, pid int) error {
	if err := answers(ctx, addr, pid); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	_, err := asked(addr, func(c *clientv3.Client) (any, error) { return c.Get(ctx, "ready") }) // is answered by a quorum
	return err
}

// Kinds of HTTP/2 frames that carry nothing but the connection's own affairs, by their type.
const (
	frameHead = 9
	frameData = 0
)

// refusal tells what a server sends that is no answer: frames without data. What an answer says
// cannot be told without knowing its question.
func refusal(answer []byte) bool {
	for len(answer) >= frameHead {
		size := int(answer[0])<<16 | int(answer[1])<<8 | int(answer[2])
		if answer[3] == frameData && size > 0 {
			return false
		}
		answer = answer[min(len(answer), frameHead+size):]
	}
	return true
}
