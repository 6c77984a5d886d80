package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/lockstorm/lockstorm/internal/campaign/queue"
)

const (
	prefix       = "lockstorm"     // of everything that is ours on a server
	manifestName = "manifest.json" // among the objects
	beats        = 10 * time.Second
	beatEach     = time.Second // at most, when something has changed
	workerLives  = 3 * beats   // after its last beat
)

// names of what a campaign has on a server.
func tasksOf(name string) string   { return prefix + "_" + name }
func resultsOf(name string) string { return prefix + "_" + name }
func runsOf(name string) string    { return prefix + "_" + name + "_runs" }
func workersOf(name string) string { return prefix + "_" + name + "_workers" }

func (m *Manifest) subject(t Task) string {
	return strings.Join([]string{prefix, m.Name, m.id, m.Needs[t.Cell], t.ID()}, ".")
}

// Campaign is one that a queue has.
type Campaign struct {
	*Manifest

	q       *queue.Queue
	tasks   jetstream.Stream
	results jetstream.KeyValue
	runs    jetstream.ObjectStore
	workers jetstream.KeyValue
}

// List names the campaigns of a queue.
func List(ctx context.Context, q *queue.Queue) (names []string, err error) {
	all := q.JS.StreamNames(ctx)
	for stream := range all.Name() {
		if name, ours := strings.CutPrefix(stream, prefix+"_"); ours {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, q.Explain(all.Err())
}

// Choose is the name of the only campaign of a queue, or the one that is named.
func Choose(ctx context.Context, q *queue.Queue, name string) (string, error) {
	names, err := List(ctx, q)
	switch {
	case err != nil:
		return "", err
	case name != "" && slices.Contains(names, name), name == "" && len(names) == 1:
		return names[max(slices.Index(names, name), 0)], nil
	case len(names) == 0:
		return "", fmt.Errorf("the queue %s has no campaign: start a campaign first (campaign start FILE --queue %s)", q.URL(), q.URL())
	case name == "":
		return "", fmt.Errorf("the queue %s has several campaigns: choose one of %s with --campaign", q.URL(),
			strings.Join(names, ", "))
	}
	return "", fmt.Errorf("the queue %s has no campaign %s (its campaigns: %s)", q.URL(), name, strings.Join(names, ", "))
}

// Open finds a campaign.
func Open(ctx context.Context, q *queue.Queue, name string) (*Campaign, error) {
	c := &Campaign{q: q}
	err := c.reach(ctx, name)
	var b []byte
	if err == nil {
		b, err = c.runs.GetBytes(ctx, manifestName)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) ||
		errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fmt.Errorf("campaign %s is not complete, because the command campaign start was interrupted: repeat this command "+
			"with the same arguments", name)
	}
	if err != nil {
		return nil, q.Explain(err)
	}
	c.Manifest = &Manifest{}
	if err := json.Unmarshal(b, c.Manifest); err != nil {
		return nil, fmt.Errorf("cannot read the manifest of campaign %s: %w", name, err)
	}
	if err := c.identify(); err != nil {
		return nil, err
	}
	if c.Schema != Schema {
		return nil, fmt.Errorf("campaign %s has schema %d, but this version of lockstorm reads only schema %d: use the version of "+
			"lockstorm that started the campaign", name, c.Schema, Schema)
	}
	return c, nil
}

// reach finds the parts of a campaign on the server.
func (c *Campaign) reach(ctx context.Context, name string) (err error) {
	js := c.q.JS
	if c.tasks, err = js.Stream(ctx, tasksOf(name)); err != nil {
		return err
	}
	if c.results, err = js.KeyValue(ctx, resultsOf(name)); err != nil {
		return err
	}
	if c.workers, err = js.KeyValue(ctx, workersOf(name)); err != nil {
		return err
	}
	c.runs, err = js.ObjectStore(ctx, runsOf(name))
	return err
}

// dedupe is how long the server remembers the ids of messages, at most.
const dedupe = 24 * time.Hour

// resultsRoom bounds the outcomes, in bytes for each task: an outcome has a few thousand.
const resultsRoom = 64 << 10

// make makes the parts of a campaign on the server; those that are there already stay.
func (c *Campaign) make(ctx context.Context, tasks int) (err error) {
	js := c.q.JS
	if c.tasks, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: tasksOf(c.Name), Description: "tasks of the lockstorm campaign " + c.Name,
		Subjects:  []string{strings.Join([]string{prefix, c.Name, ">"}, ".")},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, MaxAge: c.Keep,
		Duplicates: min(dedupe, c.Keep),
		MaxBytes:   int64(tasks+1) << 10,
	}); err != nil {
		return err
	}
	if c.results, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: resultsOf(c.Name), Description: "outcomes of the lockstorm campaign " + c.Name, Storage: jetstream.FileStorage,
		TTL: c.Keep, MaxBytes: int64(tasks+100) * resultsRoom,
	}); err != nil {
		return err
	}
	if c.workers, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: workersOf(c.Name), Description: "workers of the lockstorm campaign " + c.Name, Storage: jetstream.FileStorage,
		TTL: workerLives, MaxBytes: 16 << 20,
	}); err != nil {
		return err
	}
	c.runs, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: runsOf(c.Name), Description: "runs of the lockstorm campaign " + c.Name, Storage: jetstream.FileStorage, TTL: c.Keep,
		MaxBytes: c.Room,
	})
	return err
}

// consumer is the name of what workers take the tasks of a need from.
func (m *Manifest) consumer(need string) string { return need + "-" + m.id }

// consumers makes what workers take tasks from, one for each need.
func (c *Campaign) consumers(ctx context.Context) error {
	for need := range c.needs() {
		if _, err := c.tasks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: c.consumer(need), FilterSubject: strings.Join([]string{prefix, c.Name, c.id, need, "*"}, "."),
			AckPolicy: jetstream.AckExplicitPolicy,
			AckWait:   c.AckWait, MaxDeliver: -1, MaxAckPending: -1,
		}); err != nil {
			return fmt.Errorf("cannot create the NATS consumer %s, from which workers take their runs: %w", need, err)
		}
	}
	return nil
}

// remember stores the manifest, or makes sure that the one that is stored is the same.
func (c *Campaign) remember(ctx context.Context) error {
	b, err := c.runs.GetBytes(ctx, manifestName)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		if b, err = json.Marshal(c.Manifest); err != nil {
			return err
		}
		_, err = c.runs.Put(ctx, jetstream.ObjectMeta{Name: manifestName}, bytes.NewReader(b))
		return err
	}
	if err != nil {
		return err
	}
	var before Manifest
	if err := json.Unmarshal(b, &before); err != nil {
		return fmt.Errorf("cannot read the manifest of campaign %s: %w", c.Name, err)
	}
	switch err := before.identify(); {
	case err != nil:
		return err
	case before.id == c.id:
		c.Manifest = &before
		return nil
	case before.Build != c.Build:
		return &Other{fmt.Errorf("campaign %s was started by another build of the program (build %s; this program is build %s): "+
			"remove that campaign (campaign rm), or choose another --name", c.Name, before.Build, c.Build)}
	}
	return &Other{fmt.Errorf("the queue already has another campaign with the name %s (suite %s, started %s): remove that "+
		"campaign (campaign rm), or choose another --name", c.Name, before.Definition.Name,
		before.Definition.Started.Format(time.DateTime))}
}

// Other says that a queue has another campaign under the same name.
type Other struct{ error }

// Remove deletes everything that a campaign has on a server.
func Remove(ctx context.Context, q *queue.Queue, name string) error {
	var errs []error
	there := func(err error, absent error) {
		if err != nil && !errors.Is(err, absent) {
			errs = append(errs, q.Explain(err))
		}
	}
	there(q.JS.DeleteKeyValue(ctx, workersOf(name)), jetstream.ErrBucketNotFound)
	there(q.JS.DeleteObjectStore(ctx, runsOf(name)), jetstream.ErrStreamNotFound)
	there(q.JS.DeleteKeyValue(ctx, resultsOf(name)), jetstream.ErrBucketNotFound)
	there(q.JS.DeleteStream(ctx, tasksOf(name)), jetstream.ErrStreamNotFound) // last: it makes the campaign one
	return errors.Join(errs...)
}
