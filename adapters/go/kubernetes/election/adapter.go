// Package election is leader election on a Lease of a real Kubernetes API server, as an adapter of lockstorm. Its servers are
// kube-apiserver over etcd. The times have the proportions of client-go's defaults (15 s, 10 s, 2 s): LeaseDuration is the time
// to live. Below 8 s RetryPeriod is less than a second, and client-go compares a Lease's times in whole seconds: that shows.
//
// Words after an adapter's name: three (two API servers over three servers of etcd), keep (ReleaseOnCancel is not set, as by
// default), lease=4s (LeaseDuration is not the time to live), settles (the data are in the Lease, and written with its
// resourceVersion; ReleaseOnCancel is not set), mutant (a candidate that goes on leading when a renewal fails).
package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const (
	clientGo = "k8s.io/client-go"

	// Namespace is that of all Leases.
	Namespace = "default"
)

// Library elects.
type Library struct {
	Name, Module string
	Signal       string // that tells a leader that it leads no more
	New          func(Candidate) (run func(context.Context), err error)
}

// Candidate is what takes part in an election, until the context of its run ends.
type Candidate struct {
	Config                                    *rest.Config
	Lock                                      resourcelock.Interface
	Name                                      string // of the Lease
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	ReleaseOnCancel                           bool
	Leads                                     func(context.Context) // called once elected; the context ends with that
}

type adapter struct {
	Library
	program                      *lockstorm.Program
	run                          string
	config                       *rest.Config
	three, keep, mutant, settles bool
	lease                        time.Duration // 0: the time to live
	server                       string        // the program kube-apiserver
}

func (a *adapter) About() lockstorm.Fields {
	topology, over, servers := "kubernetes", "etcd-single", []lockstorm.Fields{a.apiServer(1, 1)}
	if a.three {
		topology, over, servers = "kubernetes-three", "etcd-three", []lockstorm.Fields{a.apiServer(1, 3), a.apiServer(2, 3)}
	}
	return lockstorm.Fields{
		"name": a.Name, "version": "1",
		"doc":     "leader election with a Lease of a Kubernetes API server",
		"library": a.Module + " " + lockstorm.Version(a.Module), "topologies": []string{topology}, "over": over, "servers": servers,
		"ends": "lease", "waits": true, "no_try": true, "renews": true, "tokens": !a.settles, "settles": a.settles,
		"signals": []lockstorm.Fields{{"kind": "context", "name": a.Signal}},
		"points":  points,
		"keys":    []string{"/registry/leases/" + Namespace + "/" + leaseName("{run}", "")}, // of all locks: names are in small letters
		"notes": "LeaseDuration is the time to live in whole seconds, RenewDeadline is 2/3 of LeaseDuration, and RetryPeriod is " +
			"2/15 of LeaseDuration. The fencing token is leaseTransitions + 1.",
		// what kube-apiserver needs to serve after a restart, and each of three candidates until it sees that a lease has ended
		"recovery_ns": (20*time.Second + 3*24*time.Second).Nanoseconds(),
		"versions":    lockstorm.Fields{"client-go": lockstorm.Version(clientGo)},
	}
}

// leaseName is the name of a Lease, in small letters as names of Kubernetes are.
func leaseName(run, lock string) string { return "lockstorm-" + run + "-" + strings.ToLower(lock) }

// Open connects to one API server: the candidates are spread over them by their numbers.
func (a *adapter) Open(p *lockstorm.Program, r lockstorm.Request) error {
	servers := slices.DeleteFunc(r.Nodes, func(n lockstorm.Node) bool { return !strings.HasPrefix(n.Name, apiServerName) })
	if len(servers) == 0 {
		return errors.New("the topology has no server whose name begins with " + apiServerName)
	}
	var number int
	if _, err := fmt.Sscanf(r.Client, "c%d", &number); err != nil {
		return fmt.Errorf("the client's name %q has no number: %w", r.Client, err)
	}
	server := servers[number%len(servers)]
	dir := filepath.Join(r.Dir, server.Name)
	token, err := os.ReadFile(filepath.Join(dir, tokenFile))
	if err != nil {
		return err
	}
	secret, _, _ := strings.Cut(string(token), ",")
	a.program, a.run = p, r.Run
	a.config = &rest.Config{
		Host: "https://" + server.Address(), BearerToken: secret,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(dir, certFile)},
	}
	return nil
}

func (a *adapter) Attempt(ctx context.Context, r lockstorm.Request) (lockstorm.Hold, lockstorm.Fields, error) {
	length := max(cmp.Or(a.lease, r.TTL).Truncate(time.Second), time.Second)
	lease, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, Namespace, leaseName(a.run, r.Lock),
		resourcelock.ResourceLockConfig{Identity: r.Owner}, a.config, length*2/3)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	rec := &told{Interface: lease, program: a.program, attempt: r.ID, deaf: a.mutant}
	running, cancel := context.WithCancel(context.Background())
	h := &hold{told: rec, cancel: cancel, done: make(chan struct{})}
	leading := make(chan context.Context, 1)
	run, err := a.New(Candidate{
		Config: a.config, Lock: rec, Name: leaseName(a.run, r.Lock), LeaseDuration: length, RenewDeadline: length * 2 / 3,
		RetryPeriod: length * 2 / 15, ReleaseOnCancel: !a.keep, Leads: func(ctx context.Context) { leading <- ctx },
	})
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrNotSent, err)
	}
	go func() {
		defer close(h.done)
		run(running)
	}()
	select {
	case leads := <-leading:
		granted := rec.grant()
		go h.watch(leads)
		if !a.settles {
			return h, granted, nil
		}
		delete(granted, "token")
		leases, err := coordinationv1client.NewForConfig(a.config)
		if err != nil {
			return nil, nil, err
		}
		return &settling{h, leases.Leases(Namespace), leaseName(a.run, r.Lock), map[string]string{}}, granted, nil
	case <-ctx.Done():
	}
	cancel()
	<-h.done
	if rec.uncertain() {
		return nil, nil, errors.New("unknown outcome: the acquire was cancelled, but one of its requests to the API server may have " +
			"acquired the lock")
	}
	return nil, nil, fmt.Errorf("%w: %w", lockstorm.ErrBusy, ctx.Err())
}

type hold struct {
	*told
	cancel context.CancelFunc
	done   chan struct{} // closed when Run has returned
}

// watch tells of the loss that the library tells by its context.
func (h *hold) watch(leads context.Context) {
	<-leads.Done()
	if !h.isReleasing() {
		h.program.Lost(h.attempt, "the context of what leads has ended, which means that the lock is lost")
	}
}

// Release ends the election, as users do by the context of Run, and waits for it.
func (h *hold) Release() error {
	h.release()
	h.cancel()
	<-h.done
	return h.released()
}

// Main is the program of an adapter: it serves lockstorm, or becomes a server.
func Main(library Library) {
	words := os.Args[1:]
	if len(words) > 0 && words[0] == "serve" {
		fmt.Fprintln(os.Stderr, serve(words[1:]))
		os.Exit(1)
	}
	a := &adapter{Library: library}
	for _, word := range words {
		var err error
		switch length, is := strings.CutPrefix(word, "lease="); {
		case word == "three":
			a.three = true
		case word == "keep":
			a.keep = true
		case word == "mutant":
			a.mutant = true
		case word == "settles":
			a.settles, a.keep = true, true
		case is:
			a.lease, err = time.ParseDuration(length)
		default:
			err = fmt.Errorf("the word %q is unknown: choose from three, keep, lease=LENGTH, settles, mutant", word)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(64)
		}
	}
	var err error
	if a.server, err = findAPIServer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(69)
	}
	lockstorm.Serve(a)
}
