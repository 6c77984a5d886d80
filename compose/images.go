// Package compose lets you name the container image of a server of your own ([Image]). It names those of lockstorm's, and has the
// Dockerfiles for those that cannot be pulled. The compose files beside it start the same topologies by hand.
package compose

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed images
var files embed.FS

// Image is the container image of a store's servers.
type Image struct {
	Name string // as in --image NAME=REF; its Dockerfile is in the folder of that name
	// Official is the name by which users pull it; empty: the default registry has none from its makers, and it is
	// built.
	Official string
	// Build is the Dockerfile of another module's image; nil: ours, by the name.
	Build []byte
}

// images is the one place that names them. The versions are those with which docs/backends.md was
// measured, where there is such an image.
var images = []Image{
	{Name: "redis", Official: "redis:7-bookworm"},
	{Name: "zookeeper", Official: "zookeeper:3.8"},
	{Name: "etcd"},
	{Name: "mariadb", Official: "mariadb:10.11"},
	{Name: "postgres", Official: "postgres:15-bookworm"},
}

// Images returns all images.
func Images() []Image { return append([]Image(nil), images...) }

// Find returns the image of a name; the error lists all names.
func Find(name string) (Image, error) {
	var names []string
	for _, i := range images {
		if i.Name == name {
			return i, nil
		}
		names = append(names, i.Name)
	}
	return Image{}, fmt.Errorf("there is no image %q: choose one of %s", name, strings.Join(names, ", "))
}

// Dockerfile returns the Dockerfile of an image like it, with what faults need.
func (i Image) Dockerfile() []byte {
	if i.Build != nil {
		return i.Build
	}
	text, err := files.ReadFile(path.Join("images", i.Name, "Dockerfile"))
	if err != nil {
		panic(fmt.Sprintf("image %s has no Dockerfile: %v", i.Name, err)) // held by a test
	}
	return text
}

// Built returns the name of the image that its Dockerfile makes, in this version.
func (i Image) Built() string {
	return fmt.Sprintf("localhost/lockstorm-%s:%x", i.Name, sha256.Sum256(i.Dockerfile()))[:len("localhost/lockstorm-:")+len(
		i.Name)+12]
}
