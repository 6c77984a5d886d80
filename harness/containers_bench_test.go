//go:build series

package harness

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/cluster"
)

// The rate of a recorded section with the server in a container against the same with the server as a
// process, in turn in one run, both through links. The aim: 0.8.
func BenchmarkContainer(b *testing.B) {
	contained, plain := startTopology(b, "redis-single", cluster.ContainerName),
		startTopology(b, "redis-single", cluster.ProcessName)
	inTurn(b, section(b, "redis-fenced", contained, true, true), section(b, "redis-fenced", plain, true, true))
}

// The same in containers, their images present. The aim: two seconds, with Sentinels five.
func BenchmarkReadyInContainers(b *testing.B) {
	for _, line := range []string{
		"--provider container --backend redis-lua", "--provider container --backend redis-sentinel",
		"--provider container --backend etcd-mutex --topology etcd-three",
	} {
		words := strings.Fields(line)
		b.Run(words[len(words)-1], func(b *testing.B) { ready(b, line) })
	}
}
