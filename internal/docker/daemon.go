package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	dockercontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"github.com/lockstorm/lockstorm/cluster"
)

// noRyuk keeps testcontainers from starting a container of its own that removes ours: a child of our
// own does (see [Sweep]), and needs no image and no socket inside a container. Who wants both says so
// in the environment.
const noRyuk = "TESTCONTAINERS_RYUK_DISABLED"

const askLimit = 5 * time.Second // for an answer of the daemon that needs no work

// daemon is the Docker of this host.
type daemon struct {
	containers *testcontainers.DockerProvider
	api        client.APIClient
	Version    string
	trouble    error // why its containers cannot share this host's network
	users      dockercontainer.UsernsMode
}

// connect finds the daemon, once in the life of this process.
var connect = sync.OnceValues(dial)

// dial finds the daemon. The error says in a sentence why there is none, and what to do.
func dial() (d *daemon, err error) {
	tclog.SetDefault(tclog.NewNoopLogger()) // else it greets on stderr
	if _, said := os.LookupEnv(noRyuk); !said {
		if err := os.Setenv(noRyuk, "true"); err != nil {
			return nil, err
		}
	}
	if err := ping(os.Getenv(client.EnvOverrideHost)); err != nil {
		return nil, unreachable(err)
	}
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()),
		// Which is there on any daemon: else it makes a network of its own, which nobody would remove.
		testcontainers.WithDefaultBridgeNetwork(cluster.NetworkHost))
	if err != nil {
		return nil, unreachable(err)
	}
	d = &daemon{containers: p, api: p.Client()}
	defer d.rest()
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	info, err := d.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, unreachable(err)
	}
	d.Version, d.trouble = info.Info.ServerVersion, elsewhere(d.api.DaemonHost(), info.Info.OperatingSystem,
		info.Info.SecurityOptions)
	d.users = mapping(info.Info.SecurityOptions)
	return d, nil
}

// rest closes the connections to the daemon that nobody uses: who only asked leaves none behind. Who asks again
// makes a new one.
func (d *daemon) rest() {
	d.api.Close() //nolint:errcheck // it was only asked
}

// ping asks the daemon that the user has named: testcontainers would go on to others.
func ping(host string) error {
	if host == "" {
		return nil
	}
	c, err := client.New(client.FromEnv)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it was only asked
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	_, err = c.Ping(ctx, client.PingOptions{})
	return err
}

// unreachable is why the daemon does not answer, and the way out.
func unreachable(err error) error {
	const or = `, or use another --provider`
	text := err.Error()
	switch {
	case errors.Is(err, fs.ErrPermission) || strings.Contains(text, "permission denied"):
		return fmt.Errorf("this user has no permission for Docker's socket: ask an administrator to add you to the group docker, and "+
			"log in again%s: %w", or, errFirst(err))
	case client.IsErrConnectionFailed(err) || strings.Contains(text, "Cannot connect to the Docker daemon") ||
		strings.Contains(text, "docker socket not found") || strings.Contains(text, "no such file"):
		return fmt.Errorf("the Docker daemon does not answer: start the daemon, set DOCKER_HOST%s: %w", or,
			errFirst(err))
	}
	return fmt.Errorf("the Docker daemon gave an unexpected answer: check the daemon with `docker info`%s: %w", or, errFirst(err))
}

// errFirst is the first line of an error: some have a page for every place that was tried.
func errFirst(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// elsewhere says why the daemon's containers do not run in this host's network, where faults are.
func elsewhere(host, system string, security []string) error {
	switch {
	case !strings.HasPrefix(host, "unix://"):
		return fmt.Errorf("the Docker daemon at %s may be on another host, where lockstorm cannot reach the servers: use a Docker "+
			"daemon on this host, with a Unix socket (DOCKER_HOST=unix:///path)", host)
	case strings.Contains(system, "Docker Desktop"):
		return errors.New("the daemon is Docker Desktop, which runs containers in a virtual machine: run lockstorm inside that " +
			"virtual machine, or on Linux")
	case slices.ContainsFunc(security, func(s string) bool { return strings.Contains(s, "rootless") }):
		return errors.New("servers in rootless Docker cannot reach lockstorm's proxies, because rootless Docker has a separate " +
			"network: use the system's Docker daemon")
	}
	return nil
}

// mapping is what a daemon that maps users of containers to others (userns-remap) must be told for a server
// to be who we are, which the host's network and our folders need; empty for one that does not.
func mapping(security []string) dockercontainer.UsernsMode {
	if slices.ContainsFunc(security, func(s string) bool { return strings.Contains(s, "userns") }) {
		return "host"
	}
	return ""
}

// usable is the daemon, if servers can be run by it.
func usable() (*daemon, error) {
	d, err := connect()
	if err == nil {
		err = d.trouble
	}
	return d, err
}
