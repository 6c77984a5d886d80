package cluster

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"text/template"
)

// Place is where a server lives. Its provider chooses the ports.
type Place struct {
	Dir    string // the node's own folder
	Inside string // where its program has that folder, if elsewhere: what {{.Dir}} stands for
	Host   string
	Port   int            // of the main port; before a launch, the one that it had, or 0
	Ports  map[string]int // the further ones, by name
	Source string         // address from which it calls its peers
	// PeerHost is where it reaches the ports of its peers, which are links.
	PeerHost string
	// OwnAddress: nothing else has its address, and who calls it comes from another one.
	OwnAddress bool
	Env        []string // added to its environment
	// Follows: it is to follow another one, where that is for us to say and not for the servers.
	Follows bool
	// Awaited: whoever starts it waits until all servers have found each other (see Topology.Ready).
	Awaited bool
	// Said is how much of its log is from before its last start, in bytes.
	Said  int64
	peers map[peerPort]int
}

type peerPort struct{ node, port string }

// PortNamed is a further port, for templates.
func (p Place) PortNamed(name string) (int, error) {
	port, ok := p.Ports[name]
	if !ok {
		return 0, fmt.Errorf("the server has no port with the name %q", name)
	}
	return port, nil
}

// PortOf is the main port of another node as this one reaches it, for templates.
func (p Place) PortOf(node string) (int, error) { return p.PeerPort(node, "") }

// PeerPort is a named port of another node as this one reaches it, for templates.
func (p Place) PeerPort(node, name string) (int, error) {
	port, ok := p.peers[peerPort{node, name}]
	if !ok {
		return 0, fmt.Errorf("this server has no address for port %[2]q of node %[1]s (port \"\" is the main port), so it cannot "+
			"reach that node: check the two names, and set the field Peering of this port (if it is the main port: the field Peering of "+
			"the recipe)", node, name)
	}
	return port, nil
}

// Log is where what the server prints is kept, on this host.
func (p Place) Log() string { return filepath.Join(p.Dir, "server.log") }

// Addr is host:port of the main port.
func (p Place) Addr() string { return net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }

// addrOf is host:port of any port; the main one has no name.
func (p Place) addrOf(name string) string {
	if name == "" {
		return p.Addr()
	}
	return net.JoinHostPort(p.Host, strconv.Itoa(p.Ports[name]))
}

func parse(text string) (*template.Template, error) {
	return template.New("").Option("missingkey=error").Parse(text)
}

// expand fills in a template.
func (p Place) expand(text string) (string, error) {
	t, err := parse(text)
	if err != nil {
		return "", err
	}
	if p.Inside != "" {
		p.Dir = p.Inside
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// ExpandAll fills in templates.
func (p Place) ExpandAll(texts []string) ([]string, error) {
	out := make([]string, len(texts))
	for i, text := range texts {
		var err error
		if out[i], err = p.expand(text); err != nil {
			return nil, fmt.Errorf("cannot fill in the template in argument %q of a command: %w", text, err)
		}
	}
	return out, nil
}
