package cluster

import (
	"context"
	"fmt"
	"strings"
)

// Names of the providers; Auto takes the first that is available.
const (
	Auto          = "auto"
	ProcessName   = "process"
	ContainerName = "container"
	EmbeddedName  = "embedded"
	ExternalName  = "external"
	NoServers     = "none" // in records, where a topology has no servers
)

// Provider starts servers from recipes.
type Provider interface {
	Name() string
	// Available returns nil if every node of the topology can be started here; the error says what is missing and how to
	// get it.
	Available(t Topology) error
	// Prepare makes what a server needs once, before its first start.
	Prepare(ctx context.Context, r Recipe, p Place) error
	// Launch starts a server and returns before it is ready. The ports of the place are its last ones, or 0; the
	// instance has the ones that it got.
	Launch(ctx context.Context, t Topology, r Recipe, p Place) (Instance, error)
}

// Fetcher is a provider that may have to download what it starts. Auto takes it only if everything is here already,
// since the user asked for no download.
type Fetcher interface {
	Here(t Topology) error
}

// Landlord is a provider of servers that are not ours: they are announced to no peer, and asked only whether they
// serve.
type Landlord interface {
	Foreign()
}

// Foreign reports whether the servers of a provider are not ours.
func Foreign(p Provider) bool {
	_, ok := p.(Landlord)
	return ok
}

// Versioner is a provider that reports the versions of what it starts. It may have to download that.
type Versioner interface {
	Versions(ctx context.Context, t Topology) (map[string]string, error)
}

// Instance is a started server.
type Instance interface {
	// Place returns where the instance is now, with the ports that the provider gave it.
	Place() Place
	Pid() int // Pid returns its process on this host; 0 if that cannot be inspected.
	Done() <-chan struct{}
	Kill(ctx context.Context) error
	Terminate(ctx context.Context) error
	Pause(ctx context.Context) (string, error)
	Resume(ctx context.Context) (string, error)
}

// Choose returns the named provider, or for Auto the first of the list that is available. The error says what each of
// them lacks.
func Choose(name string, t Topology, providers []Provider) (Provider, error) {
	var why []string
	for _, p := range providers {
		if name == Auto && Foreign(p) || name != Auto && name != p.Name() {
			continue
		}
		err := p.Available(t)
		if f, ok := p.(Fetcher); ok && err == nil && name == Auto {
			err = f.Here(t)
		}
		if err == nil {
			return p, nil
		}
		why = append(why, p.Name()+": "+err.Error())
	}
	if len(why) == 0 {
		return nil, fmt.Errorf("unknown provider %q: choose one of %s", name, strings.Join(names(providers), ", "))
	}
	return nil, fmt.Errorf("topology %s cannot be started on this host: %s", t.Name, strings.Join(why, "; "))
}

func names(providers []Provider) []string {
	n := []string{Auto}
	for _, p := range providers {
		n = append(n, p.Name())
	}
	return n
}
