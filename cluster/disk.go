package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/companion"
	"github.com/lockstorm/lockstorm/internal/proc"
)

// host is a provider whose servers can live in a mount namespace of their own.
type host interface {
	Provider
	starter() *proc.Starter
	with(s *proc.Starter) Provider
}

func (p ProcessProvider) starter() *proc.Starter        { return p.Starter }
func (p ProcessProvider) with(s *proc.Starter) Provider { return ProcessProvider{s} }
func (e Embedded) starter() *proc.Starter               { return e.Starter }
func (e Embedded) with(s *proc.Starter) Provider        { return Embedded{s, e.Command} }

// Disks returns why the servers of a topology cannot be on disks that lose their power, whatever the machine; nil: they can.
func Disks(provider string, t Topology) error {
	switch {
	case provider != ProcessName && provider != EmbeddedName:
		return fmt.Errorf("the files of servers of provider %s are not where lockstorm could take them away: use --provider %s",
			provider, ProcessName)
	case t.Volatile:
		return fmt.Errorf("the servers of topology %s keep nothing on disk: use server-restart", t.Name)
	case provider == EmbeddedName && t.Any(func(r Recipe) bool { return r.Data && len(r.Beside) == 0 }):
		return fmt.Errorf("the embedded servers of topology %s keep nothing on disk", t.Name)
	}
	return nil
}

// CanDisk returns why no server of this machine can be on such a disk; nil: they can.
var CanDisk = sync.OnceValue(func() error {
	if err := proc.Mountable(); err != nil {
		return err
	}
	_, err := companion.Find()
	return err
})

// disk is the file system under a server's folder. What it has mounted is seen only by the server, and goes with it.
type disk struct {
	process *proc.Process
	starter *proc.Starter // of the server
	in      io.WriteCloser
	out     *os.File
	answers *json.Decoder
	said    bytes.Buffer
}

// newDisk mounts a disk over a folder.
func newDisk(ctx context.Context, s *proc.Starter, name, dir string) (*disk, error) {
	cmd, err := companion.Command(companion.Disk, dir)
	if err != nil {
		return nil, err
	}
	d := &disk{}
	cmd.Stderr = &d.said
	if d.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w, err := os.Pipe() // which, other than its own, is not closed when it ends
	if err != nil {
		return nil, err
	}
	d.out, d.answers, cmd.Stdout = out, json.NewDecoder(out), w
	d.process, err = s.StartMounting("the disk of "+name, cmd)
	err = errors.Join(err, w.Close())
	if d.process == nil {
		return nil, errors.Join(err, out.Close())
	}
	if err == nil {
		_, err = d.answer(ctx)
	}
	if err == nil {
		d.starter, err = proc.Beside(d.process.Pid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot mount a disk for %s: %w", name, err), d.close(ctx))
	}
	return d, nil
}

// answer waits for one. A disk that gives none in time is killed.
func (d *disk) answer(ctx context.Context) (companion.DiskAnswer, error) {
	defer context.AfterFunc(ctx, func() { d.out.SetReadDeadline(time.Now()) })() //nolint:errcheck // of a pipe of ours
	var a companion.DiskAnswer
	if err := d.answers.Decode(&a); err != nil {
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if alive := d.process.Kill(killing); alive != nil {
			return a, errors.Join(ctx.Err(), alive)
		}
		return a, errors.Join(ctx.Err(), fmt.Errorf("it has ended: %w: %s", err, bytes.TrimSpace(d.said.Bytes())))
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (d *disk) ask(ctx context.Context, c companion.DiskCall) (companion.DiskAnswer, error) {
	if err := json.NewEncoder(d.in).Encode(c); err != nil {
		return companion.DiskAnswer{}, err
	}
	return d.answer(ctx)
}

// close has the disk write what it has, if it can yet, and ends it. Its server has ended.
func (d *disk) close(ctx context.Context) error {
	if d.starter != nil {
		d.starter.Close()
	}
	d.in.Close() //nolint:errcheck // then it has ended
	err := d.process.Wait(ctx)
	if ctx.Err() != nil {
		killing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, d.process.Kill(killing))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", d.process.Name, err, bytes.TrimSpace(d.said.Bytes()))
	}
	return errors.Join(err, d.out.Close())
}

// launcher is the provider that launches the server: on its disk, if it is to have one.
func (s *Server) launcher(ctx context.Context) (Provider, error) {
	h, ok := s.provider.(host)
	if s.synced == nil || !ok {
		return s.provider, nil
	}
	if s.disk == nil {
		d, err := newDisk(ctx, h.starter(), s.Name(), s.place.Dir)
		if err != nil {
			return nil, err
		}
		s.disk = d
	}
	return h.with(s.disk.starter), nil
}

// closeDisk ends the disk of a server that has ended.
func (s *Server) closeDisk(ctx context.Context) error {
	d := s.disk
	if d == nil {
		return nil
	}
	s.disk = nil
	return d.close(ctx)
}

// SyncDisks makes durable what the servers have written: losses of power take only what comes after. They wait for it.
func (c *Cluster) SyncDisks(ctx context.Context) error {
	var errs []error
	for _, s := range c.servers {
		if s.synced == nil {
			continue
		}
		if err := s.sync(ctx); err != nil {
			errs = append(errs, fmt.Errorf("cannot make durable what %s has: %w", s.Name(), err))
		}
		close(s.synced)
	}
	return errors.Join(errs...)
}

// sync leaves a server that is down as it is: what it has acknowledged may be lost.
func (s *Server) sync(ctx context.Context) error {
	s.op.Lock()
	defer s.op.Unlock()
	if s.disk == nil || s.Down() {
		return nil
	}
	if p, ok := As[Persister](s); ok {
		if err := p.Persist(ctx); err != nil {
			return err
		}
	}
	_, err := s.disk.ask(ctx, companion.DiskCall{})
	return err
}

// Synced waits until a loss of power would take only what was written for locks: see [Cluster.SyncDisks].
func (s *Server) Synced(ctx context.Context) error {
	if s.synced == nil {
		return fmt.Errorf("%s is on no disk that can lose its power", s.Name())
	}
	select {
	case <-s.synced:
		return nil
	case <-ctx.Done():
		return errors.New("no client was granted a lock yet, so there was nothing to lose")
	}
}

// LosePower throws away what the server, which was killed, had not made durable, but for what keeps leaves of it (nothing, prefix
// or torn, drawn from draw), and says in a sentence what that was; empty: there was nothing. Words are names to look for in it.
func (s *Server) LosePower(ctx context.Context, keeps string, draw uint64, words []string) (string, error) {
	s.op.Lock()
	defer s.op.Unlock()
	if s.disk == nil || !s.Down() {
		return "", fmt.Errorf("%s is on no disk that can lose its power, or runs", s.Name())
	}
	a, err := s.disk.ask(ctx, companion.DiskCall{Keeps: keeps, Draw: draw, Words: words})
	if err = errors.Join(err, s.closeDisk(ctx)); err != nil {
		return "", fmt.Errorf("cannot take the power of %s away: %w", s.Name(), err)
	}
	return describe(s.Name(), a.Loss), nil
}

// named is how many files a description of a loss names.
const named = 3

// describe is a loss in a sentence; empty: there was none.
func describe(server string, l companion.Loss) string {
	var lost, words []string
	sum, rest := int64(0), int64(0)
	for i, f := range l.Files {
		sum += f.Bytes
		words = append(words, f.Words...)
		if i >= named {
			rest += f.Bytes
			continue
		}
		text := fmt.Sprintf("%d of %s", f.Bytes, f.Path)
		if f.New {
			text += " (a new file)"
		}
		lost = append(lost, text)
	}
	if rest > 0 {
		lost = append(lost, fmt.Sprintf("%d of %d more files", rest, len(l.Files)-named))
	}
	text := ""
	switch {
	case len(lost) == 1:
		text = strings.Replace(lost[0], " of ", " unsynced bytes of ", 1)
	case len(lost) > 1:
		text = fmt.Sprintf("%d unsynced bytes, %s", sum, strings.Join(lost, ", "))
	}
	if l.Changes > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, and %d changes of names and sizes", text, l.Changes), ", and ")
	}
	if text == "" {
		return ""
	}
	if len(words) > 0 {
		text += ", " + words[0] + " among them"
	}
	return server + " lost " + text
}
