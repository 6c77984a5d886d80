// Command ownlock has the commands and flags of lockstorm, and the locks of package ownlock in its catalogue.
package main

import (
	"example.com/ownlock"

	"github.com/lockstorm/lockstorm"
)

func main() { lockstorm.Main("ownlock", ownlock.Catalogue()) }
