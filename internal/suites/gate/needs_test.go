package gate

import (
	"testing"

	"github.com/lockstorm/lockstorm/backends/stores"
	"github.com/lockstorm/lockstorm/harness"
)

// A program beside each client costs more than a client, and more clients cost more.
func TestNeedsOfPrograms(t *testing.T) {
	cat := harness.New(stores.All()...)
	cfg := harness.Defaults()
	cfg.Backend, cfg.Clients = "redis-lua", 3
	redis := Shares(cat, cfg)
	cfg.Backend = harness.ExecBackend("adapters/java/curator")
	three := Shares(cat, cfg)
	cfg.Clients = 5
	if five := Shares(cat, cfg); redis >= three || three >= five || three < 6 {
		t.Errorf("redis-lua %d, a program with three clients %d, with five %d", redis, three, five)
	}
}
