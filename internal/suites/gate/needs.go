package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/cachedir"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/files"
	"github.com/lockstorm/lockstorm/suite"
)

// What a host can bear, and a run needs, in shares. A run is mostly waiting: for leases, for faults, for
// its own end. What it costs are its processes. The numbers let eight runs of one server and five clients
// go at once on two cores, where they keep half of each busy, and four of an ensemble.
const (
	sharesPerCore = 12
	perShareMB    = 120 // of memory
	perClients    = 5   // clients a share
	manyClients   = 25  // from which on a run is made alone: it fills a core
)

// Whole is what a run needs that wants a machine for itself.
const Whole = 1 << 30

// Capacity is what this host can bear at once.
func Capacity() int64 {
	shares := int64(sharesPerCore * runtime.NumCPU())
	if mb := availableMB(); mb > 0 {
		shares = min(shares, max(mb*7/10/perShareMB, 1))
	}
	return shares
}

// Shares is what a run needs of a host; one that fills a core needs all.
func Shares(cat *harness.Catalogue, cfg harness.Config) int64 {
	if cfg.Clients >= manyClients {
		return Whole
	}
	if bare, _ := catalog.Split(cfg.Backend); bare == harness.ExecName {
		// Which servers it needs only the program knows. Beside each client it runs, and may be a virtual machine.
		return 2 + int64(max(nodes(cat, cfg), 1)) + int64(cfg.Clients)
	}
	return 1 + int64(nodes(cat, cfg)) + int64((cfg.Clients+perClients-1)/perClients)
}

// Needs is what a case needs of a host: a search makes several runs at once.
func Needs(cat *harness.Catalogue, c suite.Case) int64 {
	needs := Shares(cat, c.Run)
	if c.Search != nil && needs < Whole {
		needs *= searchRuns
	}
	return needs
}

// nodes are the servers of a run.
func nodes(cat *harness.Catalogue, cfg harness.Config) int {
	t, _ := cat.Topologies.Get(TopologyOf(cat, cfg)) // what is not known has none
	return len(t.Nodes)
}

// TopologyOf is the name of the topology of a run: the default one of its backend, where it names none; empty: not known.
func TopologyOf(cat *harness.Catalogue, cfg harness.Config) string {
	bare, _ := catalog.Split(cfg.Backend)
	b, _ := cat.Backends.Get(bare)
	return cmp.Or(append([]string{cfg.Topology}, b.Topologies...)...)
}

// availableMB is the memory that can be had; 0: not known.
func availableMB() int64 {
	b, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := strings.Cut(string(b), "MemAvailable:")
	var kb int64
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1024
}

// Timings are how long runs took on this host. A nil one knows nothing, and learns nothing.
type Timings struct {
	path string
	mu   sync.Mutex
	took map[string]time.Duration // by the flags of the run
}

// maxTimings bounds the file.
const maxTimings = 20000

// ReadTimings reads those of earlier suites from the user's cache. Where they cannot be read, none are
// known: they only make estimates better.
func ReadTimings() *Timings {
	t := &Timings{took: map[string]time.Duration{}}
	dir, _, err := cachedir.Dir()
	if err != nil {
		return t
	}
	t.path = filepath.Join(dir, "timings.json")
	if b, err := os.ReadFile(t.path); err == nil && json.Unmarshal(b, &t.took) != nil {
		t.took = map[string]time.Duration{}
	}
	return t
}

// Save keeps them for later. A cache that cannot be written is no error of the suite.
func (t *Timings) Save() error {
	if t.path == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.took) > maxTimings {
		t.took = map[string]time.Duration{}
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil {
		return notAllowed(err)
	}
	return notAllowed(files.WriteJSON(t.path, t.took))
}

// notAllowed lets pass that a cache cannot be written here.
func notAllowed(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func timingKey(c suite.Case) string {
	c.Run.Seed = 0
	line := c.Run.Line()
	switch {
	case c.Search != nil:
		line += fmt.Sprintf(" search %v without %v only %v", c.Search.For, c.Search.Without, c.Search.Only)
	case c.Trial != nil:
		line += " of a trial"
	}
	return line
}

// learn remembers the longer of two times, which fades.
func (t *Timings) learn(c suite.Case, took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := timingKey(c)
	t.took[key] = max(took, (t.took[key]+took)/2).Round(10 * time.Millisecond)
}

// estimate is how long a run takes: as it did, or its time and what comes before and after it.
func (t *Timings) estimate(cat *harness.Catalogue, c suite.Case) time.Duration {
	if t != nil {
		t.mu.Lock()
		took, ok := t.took[timingKey(c)]
		t.mu.Unlock()
		if ok {
			return took
		}
	}
	return Takes(cat, c)
}

// Takes is what can be said of a case that was never made, and is the same on every host.
func Takes(cat *harness.Catalogue, c suite.Case) time.Duration {
	if c.Search != nil {
		return c.Search.For + shrinkFor(c.Search)
	}
	cfg := c.Run
	ttl := cmp.Or(cfg.TTL, time.Second)
	return cfg.Time + time.Second + ttl + time.Duration(nodes(cat, cfg))*700*time.Millisecond
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
