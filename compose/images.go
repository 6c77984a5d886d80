// Package compose names the container images that servers run from, and has what builds them
// where they cannot be pulled. The compose files beside it bring the same topologies up by hand.
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

// Image is what the servers of a store run from.
type Image struct {
	Name string // as --image NAME=REF has it; its Dockerfile is in the folder of that name
	// Official is the name by which users pull it; empty: the default registry has none that its
	// makers keep, and it is built.
	Official string
	// Build is the Dockerfile of an image of another module; nil: ours, by the name.
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

// Images are all that there are.
func Images() []Image { return append([]Image(nil), images...) }

// Find is the image of a name; the error names all.
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

// Dockerfile is what builds an image like it, with what faults need.
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

// Built is the name of the image that its Dockerfile makes, in this version.
func (i Image) Built() string {
	return fmt.Sprintf("localhost/lockstorm-%s:%x", i.Name, sha256.Sum256(i.Dockerfile()))[:len("localhost/lockstorm-:")+len(
		i.Name)+12]
}
