package nemesis

import (
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/catalog"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis/link"
)

// Names of the parameters of link faults.
const (
	paramMode    = "mode"
	paramWay     = "way"
	paramLatency = "latency"
	paramJitter  = "jitter"
)

// What a link can do.
const (
	modeCut       = "cut"
	modeBlackHole = "blackhole"
	modeHold      = "hold"
	modeLatency   = "latency"
)

var (
	wayParam     = catalog.Param{Name: paramWay, Default: string(link.Both), Doc: "both; to: only requests; from: only answers (a cut is always both)"}
	latencyParam = catalog.Param{Name: paramLatency, Default: "0.2ttl", Doc: "of mode=latency: how much later everything comes"}
	jitterParam  = catalog.Param{Name: paramJitter, Default: "0.1ttl", Doc: "of mode=latency: more or less by up to this"}
)

func modeParam(def string) catalog.Param {
	return catalog.Param{Name: paramMode, Default: def, Doc: "cut: closed and refused; blackhole: swallowed in silence; hold: kept and delivered late; latency"}
}

func linkSpecs() []Spec {
	onClients := func(length, every string, own ...catalog.Param) []catalog.Param {
		return append(clientParams(length, every), append([]catalog.Param{nodesParam(RoleAll)}, own...)...)
	}
	return []Spec{
		{
			Name: "partition-client", Doc: "clients are cut off from servers: one, some or all; the others go on",
			Proven: "cut: connections closed, dialling refused; the other modes: the toxic is in place on the connections there are and on every new one. The heal of blackhole closes its connections, that of hold delivers what was kept, in order.",
			Family: history.FamilyLink, Whom: ClientsAndNodes, Links: ToServers, Strikes: strikeHolder, Fault: PartitionClient{},
			Params: onClients("1.5ttl", "3ttl", modeParam(modeCut), wayParam, latencyParam, jitterParam),
		},
		{
			Name: "flap", Doc: "the connections of clients to servers are reset again and again",
			Proven: "A connection was reset. The heal ends the resets and counts them.",
			Family: history.FamilyLink, Whom: ClientsAndNodes, Links: ToServers, Strikes: strikeHolder, Fault: Flap{},
			Params: onClients("1.5ttl", "3ttl", catalog.Param{Name: paramPeriod, Default: "50ms", Doc: "from one reset to the next, on average"}),
		},
		{
			Name: "lost-reply", Doc: "servers do what a client asks for, and the next answer of each that is no refusal is lost with its connection",
			Proven: "An answer was swallowed and its connection closed; the proof quotes it. The fault lets the client at the point go and then lies in wait.",
			Family: history.FamilyLink, Whom: ClientsAndNodes, Links: ToServers, Strikes: strikeReply, Fault: LostReply{},
			Params: onClients("1.5ttl", "1ttl"),
		},
		{
			Name: "packet-delay", Doc: "a client's requests to the resource are held and delivered late, in order: Kleppmann's delayed write",
			Proven: "Bytes of the client are being held; the proof says how many. The fault lets the client at the point go, and its write runs into it. The heal delivers them.",
			Family: history.FamilyLink, Whom: Clients, Links: ToRegister, Fault: PacketDelay{},
			Strikes: func(int, []string) string { return "before-write" }, Params: clientParams("1.5ttl", "2.5ttl"),
		},
		{
			Name: "partition-replication", Doc: "replicas are cut off from the master; Sentinels and clients still reach it",
			Proven: "cut: the master itself says that it has no replica. Sentinels call from other addresses and notice nothing.",
			Family: history.FamilyLink, Whom: Nodes, Strikes: strikeGrant, Fault: PartitionReplication{},
			Params: serverParams("1.5ttl", "3ttl", RoleMaster, modeParam(modeCut), wayParam, latencyParam, jitterParam),
		},
	}
}

// strikeReply loses the answer to an acquire, then to a release, then any.
func strikeReply(k int, _ []string) string {
	return []string{"before-acquire", "releasing", Random}[k%3]
}

// checkMode reads the parameters that say what is done to links.
func checkMode(own catalog.Values, ttl time.Duration) error {
	switch own[paramMode] {
	case modeCut, modeBlackHole, modeHold, modeLatency:
	default:
		return fmt.Errorf("%s=%s: choose %s, %s, %s or %s", paramMode, own[paramMode], modeCut, modeBlackHole, modeHold, modeLatency)
	}
	switch link.Way(own[paramWay]) {
	case link.Both, link.To, link.From:
	default:
		return fmt.Errorf("%s=%s: choose %s, %s or %s", paramWay, own[paramWay], link.Both, link.To, link.From)
	}
	latency, err := own.Length(paramLatency, ttl)
	if err != nil {
		return err
	}
	if latency < time.Millisecond {
		return fmt.Errorf("%s=%s: a millisecond at least", paramLatency, own[paramLatency])
	}
	_, err = own.Length(paramJitter, ttl)
	return err
}
