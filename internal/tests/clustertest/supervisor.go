package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/history"
)

const (
	watchEvery = 15 * time.Millisecond
	watchLimit = 200 * time.Millisecond // for the answer of a store
	silent     = 300 * time.Millisecond // a master that does not answer for so long is replaced
	misses     = 3                      // and so often: a slow host is no dead master
)

// supervisor asks all stores for their roles. The master of the latest epoch is the master;
// another one is made to follow it. Where there is none for a while, the first replica that
// answers is promoted: by all supervisors the same, so that they need not agree.
type supervisor struct {
	source string
	stores []string // announced addresses

	mu     sync.Mutex
	master string
	epoch  int
	seen   time.Time // the master, last
	missed int       // looks without a master since then
}

// view is what a store says of itself.
type view struct {
	addr, role, leader string
	epoch              int
}

// runSupervisor serves: ADDR SOURCE STORE...
func runSupervisor(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("a supervisor needs the arguments ADDR SOURCE STORE, with one or more stores")
	}
	v := &supervisor{source: args[1], stores: args[2:]}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for ctx.Err() == nil {
			v.watch(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(watchEvery):
			}
		}
	})
	return serve(ctx, args[0], func(_ net.Conn, words []string) (string, bool) { return v.answer(ctx, words), false })
}

func (v *supervisor) answer(ctx context.Context, words []string) string {
	switch words[0] {
	case "PID":
		return pid()
	case "MASTER":
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.master == "" {
			return "-there is no master yet"
		}
		return "+" + v.master
	case "FAILOVER":
		if err := v.promote(ctx, v.look(ctx)); err != nil {
			return "-" + err.Error()
		}
		return "+OK"
	default:
		return unknown(words)
	}
}

func (v *supervisor) ask(ctx context.Context, addr string, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	return askFrom(ctx, v.source, addr, words...)
}

// look asks all stores at once; those that do not answer are left out.
func (v *supervisor) look(ctx context.Context) (out []view) {
	views := make([]view, len(v.stores))
	var wg sync.WaitGroup
	for i, addr := range v.stores {
		wg.Go(func() {
			text, err := v.ask(ctx, addr, "ROLE")
			words := append(strings.Fields(text), "", "")
			if err == nil {
				epoch, _ := strconv.Atoi(words[1]) // 0 where it says none
				views[i] = view{addr: addr, role: words[0], epoch: epoch, leader: words[2]}
			}
		})
	}
	wg.Wait()
	for _, s := range views {
		if s.role != "" {
			out = append(out, s)
		}
	}
	return out
}

// watch looks once, and does what must be done.
func (v *supervisor) watch(ctx context.Context) {
	views := v.look(ctx)
	var best view
	for _, s := range views {
		if s.role == history.RoleMaster && (best.addr == "" || s.epoch > best.epoch) {
			best = s
		}
	}
	v.mu.Lock()
	if v.missed++; best.addr != "" && best.epoch >= v.epoch {
		v.master, v.epoch, v.seen, v.missed = best.addr, best.epoch, time.Now(), 0
	}
	late := v.master != "" && v.missed >= misses && time.Since(v.seen) > silent
	v.mu.Unlock()
	if late {
		v.promote(ctx, views) //nolint:errcheck // it is tried again
		return
	}
	for _, s := range views {
		if best.addr != "" && s.addr != best.addr && s.leader != best.addr {
			v.ask(ctx, s.addr, "FOLLOW", strconv.Itoa(best.epoch), best.addr) //nolint:errcheck // it is tried again
		}
	}
}

// promote makes the first replica that answers the master of the next epoch.
func (v *supervisor) promote(ctx context.Context, views []view) error {
	v.mu.Lock()
	next := v.epoch + 1
	v.mu.Unlock()
	for _, s := range views {
		if s.role == history.RoleReplica {
			_, err := v.ask(ctx, s.addr, "PROMOTE", strconv.Itoa(next))
			return err
		}
	}
	return fmt.Errorf("no replica answers (number of stores: %d)", len(v.stores))
}
