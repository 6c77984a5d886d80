// Command ownredis is lockstorm with a lock on Redis of your own in its catalogue.
package main

import (
	"example.com/ownlock/ownredis"

	"github.com/lockstorm/lockstorm"
)

func main() { lockstorm.Main("ownredis", ownredis.Catalogue()) }
