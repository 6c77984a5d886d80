// Command clientgo is the leader election of client-go, by which the controllers of Kubernetes choose the one that works, as an
// adapter of lockstorm. Its resource lock is ours: a key of etcd in place of a Lease of Kubernetes. The times have the
// proportions of the defaults (15 s, 10 s, 2 s); LeaseDuration is the time to live, in whole seconds.
//
//	lockstorm run --backend exec:cmd=adapters/go/launch --ttl 3s --time 20s --nemesis client-pause -- clientgo
//	lockstorm run --backend exec:cmd=adapters/go/launch --ttl 3s --time 20s --nemesis client-pause -- clientgo keep
//
// With keep, ReleaseOnCancel is not set, as by default: a lease that is given up then ends by itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const module = "k8s.io/client-go"

type adapter struct {
	program *lockstorm.Program
	run     string
	client  *clientv3.Client
	keep    bool
}

// eachLease is how long three clients need, one after the other, when each lock ends with its lease of 3 s.
const eachLease = 12 * time.Second

func (a *adapter) About() lockstorm.Fields {
	recovery := time.Duration(0)
	if a.keep {
		recovery = eachLease
	}
	return lockstorm.Fields{
		"recovery_ns": recovery.Nanoseconds(),
		"name":        "clientgo", "version": "1", "doc": "leader election of client-go (the Kubernetes client for Go), with a key " +
			"in etcd as the resource lock (the record that names the leader)",
		"library": module + " " + lockstorm.Version(module), "topologies": []string{"etcd-single", "etcd-three"}, "ends": "lease",
		"waits": true, "no_try": true,
		"renews":  true,
		"signals": []lockstorm.Fields{{"kind": "context", "name": "the context of OnStartedLeading"}},
		"keys":    []string{"lockstorm/{run}/{lock}"},
		"notes": "LeaseDuration is the time to live in whole seconds, RenewDeadline is 2/3 of LeaseDuration, and RetryPeriod is " +
			"2/15 of LeaseDuration.",
		"versions": lockstorm.Fields{
			"client-go":   lockstorm.Version(module),
			"etcd-client": lockstorm.Version("go.etcd.io/etcd/client/v3"),
		},
	}
}

func (a *adapter) Open(p *lockstorm.Program, r lockstorm.Request) (err error) {
	var endpoints []string
	for _, n := range r.Nodes {
		endpoints = append(endpoints, n.Address())
	}
	a.program, a.run = p, r.Run
	a.client, err = clientv3.New(clientv3.Config{Endpoints: endpoints})
	return err
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	rec := &record{program: a.program, client: a.client, key: "lockstorm/" + a.run + "/" + r.Lock, identity: r.Owner, attempt: r.ID}
	length := max(r.TTL.Truncate(time.Second), time.Second)
	running, cancel := context.WithCancel(context.Background())
	h := &hold{record: rec, cancel: cancel, done: make(chan struct{})}
	leading := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: rec, LeaseDuration: length, RenewDeadline: length * 2 / 3, RetryPeriod: length * 2 / 15, ReleaseOnCancel: !a.keep,
		Name: r.Lock,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leading <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	go func() {
		defer close(h.done)
		elector.Run(running)
	}()
	select {
	case leads := <-leading:
		sent := rec.grant()
		go h.watch(leads)
		return h, lockstorm.Fields{"sent": sent, "ttl_ns": length.Nanoseconds(), "deadline": sent + length.Nanoseconds()}, nil
	case <-ctx.Done():
	}
	cancel()
	<-h.done
	if rec.uncertain() {
		return nil, nil, errors.New("unknown outcome: the acquire was cancelled, but one of its requests to etcd may have acquired " +
			"the lock")
	}
	return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrBusy, ctx.Err())
}

// grant notes that the caller is told that it holds the lock, and says when the request left that took it.
func (r *record) grant() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = true
	return r.sent
}

func (r *record) uncertain() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.doubt || r.sent != 0
}

type hold struct {
	record *record
	cancel context.CancelFunc
	done   chan struct{} // closed when Run has returned
}

// watch tells of the loss that the library tells by its context.
func (h *hold) watch(leads context.Context) {
	<-leads.Done()
	if !h.record.isReleasing() {
		h.record.program.Lost(h.record.attempt, "client-go ended the context of OnStartedLeading, which means that the lock is lost")
	}
}

func (r *record) isReleasing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.releasing
}

// Release ends the election, as users do by the context of Run, and waits for it.
func (h *hold) Release() error {
	r := h.record
	r.mu.Lock()
	r.releasing, r.holder = true, ""
	r.mu.Unlock()
	h.cancel()
	<-h.done
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.asked:
		return r.given
	case r.holder != "" && r.holder != r.identity:
		return fmt.Errorf("%w: the lock's record in etcd names %s as the leader", lockstorm.ErrNotHeld, r.holder)
	}
	return errors.New("the library did not mark the lock as free in etcd, so the lock stays held until its lease ends")
}

func main() {
	lockstorm.Serve(&adapter{keep: slices.Contains(os.Args[1:], "keep")})
}
