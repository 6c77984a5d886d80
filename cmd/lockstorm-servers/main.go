// Command lockstorm-servers has what few runs of lockstorm need and what takes long to compile: the embedded servers of
// etcd and NATS, and containers. lockstorm starts it.
package main

import "github.com/lockstorm/lockstorm/internal/companion/servers"

func main() { servers.Main() }
