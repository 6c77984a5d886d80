package zookeeper

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/internal/tests/ensembletest"
)

// One server leads itself, and keeps what it has over a kill.
func TestSingle(t *testing.T) {
	b := ensembletest.Start(t, ensembletest.Named(t, Topologies(), Single))
	ask := func(addr string, f func(c *zk.Conn) error) error {
		c, _, err := zk.Connect([]string{addr}, 5*time.Second, zk.WithLogger(silent{}))
		if err != nil {
			return err
		}
		defer c.Close()
		return f(c)
	}
	b.Keeps(func(addr string) error {
		return ask(addr, func(c *zk.Conn) error {
			_, err := c.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll))
			return err
		})
	}, func(addr string) (there bool, err error) {
		err = ask(addr, func(c *zk.Conn) (err error) {
			there, _, err = c.Exists("/kept")
			return err
		})
		return there, err
	})
}

// Every leader that is killed, stopped or cut off is replaced, and no traffic between the members
// passes beside the links.
func TestElections(t *testing.T) {
	ensembletest.Start(t, ensembletest.Named(t, Topologies(), Three)).Elections()
}
