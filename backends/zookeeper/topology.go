package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/sockets"
)

// Names of the topologies.
const (
	Single = "zk-single"
	Three  = "zk-three"
	NoSync = "-nosync" // behind either: writes are never synced
)

// topologies are all of them.
var topologies = []string{Single, Three, Single + NoSync, Three + NoSync}

// Where Debian's package puts the program: the first names all others that it needs.
const jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

// classpath finds the programs in images that have them elsewhere.
const classpath = `for d in /apache-zookeeper-*/lib; do if [ -d "$d" ]; then export CLASSPATH="$d/*"; fi; done`

const (
	tick      = 100 * time.Millisecond
	syncLimit = 5 // ticks after which a leader and its followers give each other up
)

// Topologies returns the sets of ZooKeeper servers that the locks run on.
func Topologies() []cluster.Topology {
	single := node(1)
	single.Role, single.Ready = history.RoleLeader, serves
	single.Fresh = map[string]string{"zoo.cfg": config + "clientPort={{.Port}}\nclientPortAddress={{.Host}}\n"}
	ensemble := cluster.Topology{
		Name: Three, Doc: "three servers (tickTime 100, syncLimit 5); acknowledged when two have it on disk",
		// A first round of an election may choose a leader that never gets its followers; it is given up
		// after a second.
		Recovery: 10 * time.Second, FailOver: 3 * time.Second, TTL: 2 * time.Second,
		Fleet: cluster.Elected, Ready: cluster.Together(status, serves),
		Nodes: []cluster.Recipe{member(1, 3), member(2, 3), member(3, 3)},
	}
	one := cluster.Topology{
		Name: Single, Doc: "one server (tickTime 100); data survives a restart",
		Nodes: []cluster.Recipe{single}, Recovery: 4 * time.Second,
	}
	return []cluster.Topology{one, ensemble, unsynced(one), unsynced(ensemble)}
}

// unsynced is a topology whose servers acknowledge a write before it is on disk.
func unsynced(t cluster.Topology) cluster.Topology {
	t.Name, t.Doc = t.Name+NoSync, strings.Replace(t.Doc, "have it on disk", "have written it", 1)+"; never synced (forceSync=no)"
	t.Nodes, t.Unsynced = slices.Clone(t.Nodes), true
	for i := range t.Nodes {
		t.Nodes[i].Args = append([]string{"-Dzookeeper.forceSync=no"}, t.Nodes[i].Args...)
	}
	return t
}

// config is what all servers have in common. Small files, no web server, and time-outs some tenths
// of what people use in production.
const config = "tickTime=100\ninitLimit=10\nsyncLimit=5\ndataDir=./data\nadmin.enableServer=false\n4lw.commands.whitelist=*\n" +
	"preAllocSize=64\nmaxClientCnxns=0\nminSessionTimeout=400\nmaxSessionTimeout=60000\n"

func nodeName(i int) string { return fmt.Sprintf("zk-%d", i) }

// node is a server that is started small and quickly.
func node(i int) cluster.Recipe {
	return cluster.Recipe{
		Name: nodeName(i), Data: true, Binary: "java", Package: "zookeeper default-jre-headless libslf4j-java",
		Needs: strings.Split(jars, ":"),
		Image: "zookeeper", Wrap: classpath,
		Env:     map[string]string{"CLASSPATH": jars},
		Version: []string{"-XX:-UsePerfData", "org.apache.zookeeper.version.VersionInfoMain"},
		Args: []string{
			"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms16m", "-Xmx64m", "-Xss256k", "-XX:-UsePerfData", "-Xshare:auto",
			"-Dzookeeper.jmx.log4j.disable=true", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.cnxTimeout=500",
			"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", "./zoo.cfg",
		},
		Admin: newAdmin, Refusal: refusal,
	}
}

// Ports by which the members of an ensemble know each other.
const (
	quorumPort   = "quorum"
	electionPort = "election"
)

// member is a server of an ensemble. It knows its own ports and, of the others, the links to them.
func member(i, of int) cluster.Recipe {
	r := node(i)
	r.Role, r.Ready = history.RoleFollower, answers
	r.Ports = []cluster.Port{
		{Name: quorumPort, Peering: cluster.Pairwise},
		{Name: electionPort, Peering: cluster.Pairwise, Greeting: introduce},
	}
	var b strings.Builder
	b.WriteString(config)
	for n := 1; n <= of; n++ {
		at, client := fmt.Sprintf("{{.PeerHost}}:{{.PeerPort %q %q}}:{{.PeerPort %q %q}}", nodeName(n), quorumPort, nodeName(n),
			electionPort), "1"
		if n == i {
			at, client = fmt.Sprintf("{{.Host}}:{{.PortNamed %q}}:{{.PortNamed %q}}", quorumPort, electionPort), "{{.Port}}"
		}
		fmt.Fprintf(&b, "server.%d=%s;{{.Host}}:%s\n", n, at, client)
	}
	r.Fresh = map[string]string{"zoo.cfg": b.String()}
	r.Files = map[string]string{"data/myid": fmt.Sprintf("%d\n", i)}
	return r
}

// introduce rewrites by which address a server that dials the election port of another one wants to
// be called back: its own, past all links.
//
//	int64 version | int64 id | int32 length | host:port
func introduce(said io.Reader, back string) ([]byte, error) {
	head := make([]byte, 8+8+4)
	if _, err := io.ReadFull(said, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[16:])
	if n > maxAddress {
		return nil, fmt.Errorf("another ZooKeeper server introduced itself with an address of %d bytes, which is too long", n)
	}
	if _, err := io.CopyN(io.Discard, said, int64(n)); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(head[16:], uint32(len(back)))
	return append(head, back...), nil
}

const maxAddress = 4096

// answers waits until the server's own process answers, with a quorum or without.
func answers(ctx context.Context, addr string, pid int) error {
	said, err := ask(ctx, addr, "ruok")
	if err == nil && said != "imok" {
		err = fmt.Errorf("the server answers %q", said)
	}
	if err != nil {
		return err
	}
	return sockets.Own(pid, addr)
}

// serves waits until the server takes requests.
func serves(ctx context.Context, addr string, pid int) error {
	if err := answers(ctx, addr, pid); err != nil {
		return err
	}
	s, err := status(ctx, addr)
	if err == nil && !s.Led {
		err = errors.New("the server is not serving yet")
	}
	return err
}

// refusal tells answers by which nothing was done: errors, pings and notices of watches.
//
//	int32 length | int32 xid | int64 zxid | int32 error
func refusal(answer []byte) bool {
	if len(answer) < 20 {
		return true
	}
	xid, code := int32(binary.BigEndian.Uint32(answer[4:])), int32(binary.BigEndian.Uint32(answer[16:]))
	return xid < 0 || code != 0
}
