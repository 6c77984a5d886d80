package compose

import (
	"fmt"
	"slices"
	"strings"
)

// Choices are images that replace those of the table, by name.
type Choices map[string]string

// ParseChoices parses words NAME=REF. own are the names of other modules' images.
func ParseChoices(words []string, own ...string) (Choices, error) {
	c := Choices{}
	for _, w := range words {
		name, ref, ok := strings.Cut(w, "=")
		if !ok || ref == "" {
			return nil, fmt.Errorf("image %q: write NAME=REF (NAME is an image that `lockstorm doctor` lists, and REF is the image to "+
				"use in its place)", w)
		}
		if _, err := Find(name); err != nil && !slices.Contains(own, name) {
			return nil, fmt.Errorf("image %q: %w", w, err)
		}
		if was, twice := c[name]; twice && was != ref {
			return nil, fmt.Errorf("two images are given for %s (%s and %s): choose one of them", name, was, ref)
		}
		c[name] = ref
	}
	return c, nil
}
