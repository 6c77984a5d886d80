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
	Inside string // path of Dir for the server's program, if another one: the value of {{.Dir}}
	Host   string
	Port   int            // main port; before a launch, the last one, or 0
	Ports  map[string]int // other ports, by name
	Source string         // address from which it calls its peers
	// PeerHost is the host on which it reaches the ports of its peers, which are links.
	PeerHost string
	// OwnAddress is true if the server has an address to itself, so that its callers come from other addresses.
	OwnAddress bool
	Env        []string // added to its environment
	// Follows is true if the server is to follow another one, where that is our decision and not the servers'.
	Follows bool
	// Awaited is true if the starter waits until all servers have found each other (see Topology.Ready).
	Awaited bool
	// Said is the length of its log before its last start, in bytes.
	Said int64
	// Peers are the ports of other servers as this one reaches them, by "SERVER PORT"; the main port has no name.
	Peers map[string]int
}

// PortNamed returns one of the other ports, for templates.
func (p Place) PortNamed(name string) (int, error) {
	port, ok := p.Ports[name]
	if !ok {
		return 0, fmt.Errorf("the server has no port with the name %q", name)
	}
	return port, nil
}

// PortOf returns the main port of another node as this one reaches it, for templates.
func (p Place) PortOf(node string) (int, error) { return p.PeerPort(node, "") }

// PeerPort returns a named port of another node as this one reaches it, for templates.
func (p Place) PeerPort(node, name string) (int, error) {
	port, ok := p.Peers[node+" "+name]
	if !ok {
		return 0, fmt.Errorf("this server has no address for port %[2]q of node %[1]s (port \"\" is the main port), so it cannot "+
			"reach that node: check the two names, and set the field Peering of this port (if it is the main port: the field Peering of "+
			"the recipe)", node, name)
	}
	return port, nil
}

// Log returns the path, on this host, of the file with the server's output.
func (p Place) Log() string { return filepath.Join(p.Dir, "server.log") }

// Addr returns host:port of the main port.
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
