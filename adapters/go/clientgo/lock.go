package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

// record is a resource lock of client-go on a key of etcd: what a server of Kubernetes would keep for it in etcd. As
// client-go's LeaseLock it updates the version that it has read or written last. It is ours, and no part of client-go.
type record struct {
	program  *lockstorm.Program
	client   *clientv3.Client
	key      string
	identity string
	attempt  int64

	mu        sync.Mutex
	version   int64  // that was read or written last
	holder    string // by what was read last, from the beginning of a release on
	sent      int64  // of the request that took the lock; 0: none did
	doubt     bool   // a request that could have taken it had no answer
	held      bool   // the caller was told that it holds the lock
	releasing bool   // the caller gives it up
	given     error  // the error of its release
	asked     bool   // the release was sent
}

var _ resourcelock.Interface = (*record)(nil)

var resource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// Get reads the record. Candidates wait for as long as the bytes that it returns stay the same: the times in them are whole
// seconds, which every renewal changes with the default of 2 s between two of them. Here they come more often, so the version is
// a part of the bytes.
func (r *record) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	got, err := r.client.Get(ctx, r.key)
	if err != nil {
		return nil, nil, err
	}
	if len(got.Kvs) == 0 {
		return nil, nil, apierrors.NewNotFound(resource, r.key)
	}
	var rec resourcelock.LeaderElectionRecord
	if err := json.Unmarshal(got.Kvs[0].Value, &rec); err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version, r.holder = got.Kvs[0].ModRevision, rec.HolderIdentity
	return &rec, strconv.AppendInt(got.Kvs[0].Value, r.version, 10), nil
}

// Create writes the first record.
func (r *record) Create(ctx context.Context, rec resourcelock.LeaderElectionRecord) error {
	return r.change(ctx, rec, clientv3.Compare(clientv3.CreateRevision(r.key), "=", 0))
}

// Update writes a record in place of the one that was read or written last.
func (r *record) Update(ctx context.Context, rec resourcelock.LeaderElectionRecord) error {
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	return r.change(ctx, rec, clientv3.Compare(clientv3.ModRevision(r.key), "=", version))
}

// change writes a record, and tells lockstorm of what that means for the lock.
func (r *record) change(ctx context.Context, rec resourcelock.LeaderElectionRecord, where clientv3.Cmp) error {
	r.mu.Lock()
	held, releasing := r.held, r.releasing
	r.mu.Unlock()
	gives := rec.HolderIdentity == ""
	switch {
	case gives && releasing:
		err := r.write(ctx, rec, where)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked, r.given = true, err
		return err
	case held && gives:
		n := r.program.Wait("giving-up", lockstorm.Fields{"hold": r.attempt})
		err := r.write(ctx, rec, where)
		r.program.Tell("gave-up", n, failed(err))
		return err
	case held:
		n := r.program.Wait("renewing", lockstorm.Fields{"hold": r.attempt})
		sent := lockstorm.Now()
		err := r.write(ctx, rec, where)
		if err != nil {
			r.program.Tell("renewed", n, failed(err))
			return err
		}
		r.program.Tell("renewed", n, lease(sent, rec))
		return nil
	}
	sent := lockstorm.Now()
	err := r.write(ctx, rec, where)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !gives {
		r.sent = sent
	}
	r.doubt = r.doubt || err != nil && !apierrors.IsConflict(err)
	return err
}

func lease(sent int64, rec resourcelock.LeaderElectionRecord) lockstorm.Fields {
	ttl := int64(rec.LeaseDurationSeconds) * 1e9
	return lockstorm.Fields{"sent": sent, "ttl_ns": ttl, "deadline": sent + ttl}
}

// failed are the fields of a change that did not succeed, or of one that did. After a change of unknown outcome the next one may
// meet what that one wrote: a conflict does not say that somebody else has the lock.
func failed(err error) lockstorm.Fields {
	if err == nil {
		return lockstorm.Fields{}
	}
	return lockstorm.Fields{"failed": "error", "message": err.Error()}
}

func (r *record) write(ctx context.Context, rec resourcelock.LeaderElectionRecord, where clientv3.Cmp) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	resp, err := r.client.Txn(ctx).If(where).Then(clientv3.OpPut(r.key, string(text))).Commit()
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return apierrors.NewConflict(resource, r.key, errors.New("the write was refused, because the lock's record in etcd was "+
			"changed after the client had read it"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = resp.Header.Revision
	return nil
}

// RecordEvent has nobody to tell.
func (r *record) RecordEvent(string) {}

// Identity is who this client is.
func (r *record) Identity() string { return r.identity }

// Describe names the lock.
func (r *record) Describe() string { return r.key }
