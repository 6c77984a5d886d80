package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/moby/moby/api/pkg/stdcopy"
	dockercontainer "github.com/moby/moby/api/types/container"
	dockernetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/lockstorm/lockstorm/cluster"
)

const (
	memoryLimit = 1 << 30 // of one server: a run must not fill the machine
	pidsLimit   = 1024
	logSize     = "16m"

	nobody = 65534 // who root is inside, where a server refuses to run as root
)

// started is a container that was made and begun.
type started struct {
	id, name string
}

// ends are the addresses of a container, by network; none: what the network gives it.
type ends = map[string]*dockernetwork.EndpointSettings

// begin makes a container that runs a command in the node's folder, and starts it.
func (p *Provider) begin(ctx context.Context, d *daemon, r cluster.Recipe, img image, place cluster.Place, command []string,
	network string, ends ends,
) (started, error) {
	user := userOf(r)
	if err := errors.Join(writePasswd(place.Dir, user), user.own(place.Dir)); err != nil {
		return started{}, err
	}
	name, made, err := p.guarded(r.Name)
	if err != nil {
		return started{}, err
	}
	if r.Wrap != "" { // the words become $0, $1, ... of the script
		command = append([]string{"sh", "-c", r.Wrap + "\nexec \"$0\" \"$@\""}, command...)
	}
	env, binds := environment(place)
	maps.Copy(env, r.Env)
	making, cancel := uncut(ctx)
	defer cancel()
	c, err := d.containers.CreateContainer(making, testcontainers.ContainerRequest{
		Name: name, Image: img.ref, Labels: labels(p.run), Env: env, Entrypoint: command[:1], Cmd: command[1:],
		ConfigModifier: func(c *dockercontainer.Config) {
			c.User, c.WorkingDir = user.String(), inside
			if network == networkNone {
				c.Hostname = "localhost" // some want to look their own name up
			}
			c.Healthcheck = &dockercontainer.HealthConfig{Test: []string{"NONE"}} // it would start processes in the server's container
		},
		HostConfigModifier: func(h *dockercontainer.HostConfig) {
			h.NetworkMode, h.UsernsMode, h.Binds = dockercontainer.NetworkMode(network), d.users, binds
			pids := int64(pidsLimit)
			h.Memory, h.PidsLimit = memoryLimit, &pids
			h.LogConfig = dockercontainer.LogConfig{Type: "json-file", Config: map[string]string{"max-size": logSize, "max-file": "1"}}
		},
		EndpointSettingsModifier: func(e map[string]*dockernetwork.EndpointSettings) { maps.Copy(e, ends) },
	})
	if making.Err() == nil { // else the daemon may still carry it out
		made()
	}
	if err != nil {
		return started{}, fmt.Errorf("cannot create container %s of image %s: %w", name, img.ref, errFirst(err))
	}
	s := started{id: c.GetContainerID(), name: name}
	if _, err := d.api.ContainerStart(ctx, s.id, client.ContainerStartOptions{}); err != nil {
		p.remove(d, s.id)
		if strings.Contains(err.Error(), "executable file not found") || strings.Contains(err.Error(), "no such file or directory") {
			return s, fmt.Errorf("image %s does not contain the program %s, so the image is not a %s image: choose another image", img.ref,
				command[0], r.Image)
		}
		return s, fmt.Errorf("cannot start container %s of image %s: %w", name, img.ref, errFirst(err))
	}
	return s, nil
}

// once runs a command in a container without a network, to its end, and returns what it said.
func (p *Provider) once(ctx context.Context, d *daemon, r cluster.Recipe, img image, place cluster.Place,
	command []string,
) (string, error) {
	s, err := p.begin(ctx, d, r, img, place, command, networkNone, nil)
	if err != nil {
		return "", err
	}
	defer p.remove(d, s.id)
	code, err := d.wait(ctx, s.id)
	if err != nil {
		return "", err
	}
	said, err := d.said(ctx, s.id)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s: exit status %d: %s", command[0], code, strings.TrimSpace(said))
	}
	return said, err
}

// wait waits for the end of a container.
func (d *daemon) wait(ctx context.Context, id string) (code int64, err error) {
	w := d.api.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: dockercontainer.WaitConditionNotRunning})
	select {
	case end := <-w.Result:
		return end.StatusCode, nil
	case err := <-w.Error:
		return 0, err
	}
}

// said is all that a container has printed.
func (d *daemon) said(ctx context.Context, id string) (string, error) {
	logs, err := d.api.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return "", err
	}
	defer logs.Close() //nolint:errcheck // it was read to its end
	var b bytes.Buffer
	_, err = stdcopy.StdCopy(&b, &b, logs)
	return b.String(), err
}

// Where a container has the folders of the host: paths of the host may lead through a folder of the
// image that is closed to the server's user.
const (
	inside        = "/lockstorm"
	insidePreload = "/lockstorm-preload"
)

// environment is what a place adds to a container's environment, and the folders that it needs
// there: its own, and that of a library that is loaded first.
func environment(place cluster.Place) (env map[string]string, binds []string) {
	env = map[string]string{}
	binds = []string{place.Dir + ":" + inside, filepath.Join(place.Dir, passwd) + ":/etc/passwd:ro"}
	for _, e := range place.Env {
		name, value, _ := strings.Cut(e, "=")
		if rest, ok := strings.CutPrefix(value, place.Dir+"/"); ok {
			value = path.Join(inside, rest)
		}
		if name == "LD_PRELOAD" {
			binds = append(binds, filepath.Dir(value)+":"+insidePreload+":ro")
			value = path.Join(insidePreload, filepath.Base(value))
		}
		env[name] = value
	}
	return env, binds
}

// user is who a server runs as.
type user struct{ uid, gid int }

// userOf is who we are: what a server writes is ours then. One that refuses to run as root is nobody.
func userOf(r cluster.Recipe) user {
	if r.Contained && os.Getuid() == 0 {
		return user{nobody, nobody}
	}
	return user{os.Getuid(), os.Getgid()}
}

// String is uid:gid.
func (u user) String() string { return fmt.Sprintf("%d:%d", u.uid, u.gid) }

// own gives a folder to the user.
func (u user) own(dir string) error {
	if u.uid == os.Getuid() {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, u.uid, u.gid) //nolint:gosec // the folder is ours, and its servers do not run
	})
}

// passwd is a file of the node's folder. Some programs want to know the name of their user, and the
// image does not know ours.
const passwd = ".passwd"

func writePasswd(dir string, u user) error {
	text := fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\nlockstorm:x:%d:%d::/tmp:/bin/sh\n", u.uid, u.gid)
	if u.uid == 0 {
		text = "root:x:0:0:root:/root:/bin/sh\n"
	}
	return os.WriteFile(filepath.Join(dir, passwd), []byte(text), 0o644)
}
