package cluster

import (
	"context"
	"errors"
)

// NoContainers is the provider "container" of a program that was built without one.
type NoContainers struct{}

var _ Provider = NoContainers{}

var errNoContainers = errors.New("this program was built without support for containers: set the field Containers of its " +
	"catalogue, for example to container.Docker{} of package cluster/container")

// Name returns "container".
func (NoContainers) Name() string { return ContainerName }

// Available always returns an error.
func (NoContainers) Available(Topology) error { return errNoContainers }

// Prepare always returns an error.
func (NoContainers) Prepare(context.Context, Recipe, Place) error { return errNoContainers }

// Launch always returns an error.
func (NoContainers) Launch(context.Context, Topology, Recipe, Place) (Instance, error) {
	return nil, errNoContainers
}
