package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/compose"
)

// image is one that is here: what a name stands for now.
type image struct {
	ref    string // as it was asked for
	digest string // of its registry, else its own id
	id     string
}

// String is the reference with what it stands for.
func (i image) String() string { return i.ref + "@" + i.digest }

// errNotHere says that an image is not on this host.
var errNotHere = errors.New("is not on this host")

// candidates are the references under which an image may be here, the preferred one first.
func candidates(c compose.Choices, i compose.Image) []string {
	if ref := c[i.Name]; ref != "" {
		return []string{ref}
	}
	if i.Official == "" {
		return []string{i.Built()}
	}
	return []string{i.Official, i.Built()}
}

// here finds an image on this host.
func (d *daemon) here(ctx context.Context, c compose.Choices, i compose.Image) (image, error) {
	refs := candidates(c, i)
	for _, ref := range refs {
		found, err := d.api.ImageInspect(ctx, ref)
		if errdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return image{}, fmt.Errorf("image %s: %w", ref, err)
		}
		digest := found.ID
		if len(found.RepoDigests) > 0 {
			_, digest, _ = strings.Cut(found.RepoDigests[0], "@")
		}
		return image{ref: ref, digest: digest, id: found.ID}, nil
	}
	return image{}, fmt.Errorf("image %s %w", refs[0], errNotHere)
}

// fetching keeps two runs of one process from getting the same image at once.
var fetching sync.Mutex

// get finds an image, else pulls it, else builds it from its Dockerfile; say tells what takes long.
func (d *daemon) get(ctx context.Context, c compose.Choices, i compose.Image, say func(string)) (image, error) {
	fetching.Lock()
	defer fetching.Unlock()
	found, err := d.here(ctx, c, i)
	if !errors.Is(err, errNotHere) {
		return found, err
	}
	ref := cmp.Or(c[i.Name], i.Official)
	var pulled error
	if ref != "" {
		say("pulling the image " + ref)
		if pulled = d.pull(ctx, ref); pulled == nil {
			return d.here(ctx, c, i)
		}
		pulled = fmt.Errorf("image %s is not on this host and cannot be pulled: %w", ref, pulled)
		if c[i.Name] != "" || ctx.Err() != nil {
			return image{}, fmt.Errorf("%w; load the image (docker load), or choose another image with --image %s=REF", pulled, i.Name)
		}
		say(fmt.Sprintf("image %s cannot be pulled, so lockstorm builds an equivalent image from compose/images/%s", ref, i.Name))
	} else {
		say("building an image from compose/images/" + i.Name)
	}
	if err := d.build(ctx, i); err != nil {
		return image{}, fmt.Errorf("%w; load an image (docker load), or choose another image with --image %s=REF",
			errors.Join(pulled, fmt.Errorf("image %s cannot be built from compose/images/%s: %w", i.Built(), i.Name, err)), i.Name)
	}
	return d.here(ctx, c, i)
}

func (d *daemon) pull(ctx context.Context, ref string) error {
	answer, err := d.api.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err != nil {
		return errFirst(err)
	}
	return errors.Join(answer.Wait(ctx), answer.Close())
}

// build makes the image of a Dockerfile. It uses the host's network to get packages: other networks
// may have no way out.
func (d *daemon) build(ctx context.Context, i compose.Image) error {
	var sent bytes.Buffer
	w := tar.NewWriter(&sent)
	text := i.Dockerfile()
	err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	net := cluster.NetworkHost
	if d.users != "" {
		net = "" // a build cannot be told whose users it has, and so may not have that network
	}
	answer, err := d.api.ImageBuild(ctx, &sent, client.ImageBuildOptions{
		Tags: []string{i.Built()}, Remove: true, ForceRemove: true,
		NetworkMode: net,
	})
	if err != nil {
		return errFirst(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read to its end
	return buildResult(answer.Body)
}

// buildResult reads what a build says to its end: the error is the last of it.
func buildResult(r io.Reader) error {
	last := ""
	for d := json.NewDecoder(r); ; {
		var said jsonstream.Message
		err := d.Decode(&said)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case said.Error != nil:
			return fmt.Errorf("%s (%s)", said.Error.Message, last)
		}
		last = cmp.Or(strings.TrimSpace(said.Stream), last)
	}
}

// State returns the version of Docker here and, for each image of the table, the image used for it. The error says
// why no server could be run.
func State(ctx context.Context) (version string, images map[string]string, err error) {
	d, err := usable()
	if err != nil {
		return "", nil, err
	}
	images = map[string]string{}
	for _, i := range compose.Images() {
		found, err := d.here(ctx, nil, i)
		switch {
		case err == nil:
			images["image "+i.Name] = found.String()
		case i.Official == "":
			images["image "+i.Name] = "the image is not on this host yet: a run first builds the image from compose/images/" + i.Name
		default:
			images["image "+i.Name] = "the image is not on this host yet: a run first pulls " + i.Official +
				", or builds the image from compose/images/" + i.Name
		}
	}
	return d.Version, images, nil
}
