// Command demo is lockstorm with Redis alone. make demo builds it, since it takes a third of the time to build.
package main

import (
	"github.com/lockstorm/lockstorm"
	"github.com/lockstorm/lockstorm/backends/redis/embedded"
	"github.com/lockstorm/lockstorm/harness"
)

func main() { lockstorm.Main("lockstorm", harness.New(embedded.Part())) }
