// Package lockstorm is what adapters of lockstorm in Go share: the pipes, the clock, and a goroutine that makes the calls. It
// needs the standard library alone. The protocol is docs/adapters.md.
package lockstorm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Now is CLOCK_MONOTONIC in nanoseconds.
func Now() int64 {
	var ts syscall.Timespec
	const clockMonotonic = 1
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return ts.Nano()
}

// What is certain of a call; every other error is of unknown outcome.
var (
	ErrBusy    = errors.New("another client holds the lock")
	ErrNotHeld = errors.New("the store says that this client does not hold the lock")
	ErrNotSent = errors.New("the request was not sent to the store")
	// ErrConflict is that of a Settler.
	ErrConflict = errors.New("somebody else has written the data")
)

// Node is a server, at the address of this client's link to it.
type Node struct {
	Name string `json:"name"`
	Host string `json:"host"`
	Port int    `json:"port"`
}

// Address is host:port.
func (n Node) Address() string { return n.Host + ":" + strconv.Itoa(n.Port) }

// Request is what lockstorm asks for. Times are nanoseconds.
type Request struct {
	ID      int64             `json:"id"`
	Op      string            `json:"op"`
	Run     string            `json:"run"`
	Client  string            `json:"client"`
	Nodes   []Node            `json:"nodes"`
	Dir     string            `json:"dir"`
	Lease   time.Duration     `json:"lease_ns"`
	Retry   time.Duration     `json:"retry_ns"`
	Timeout time.Duration     `json:"timeout_ns"`
	Params  map[string]string `json:"params"`
	Lock    string            `json:"lock"`
	Owner   string            `json:"owner"`
	TTL     time.Duration     `json:"ttl_ns"`
	Hold    int64             `json:"hold"`
	N       int64             `json:"n"`
	// Of a Settler.
	Register string `json:"register"`
	Base     string `json:"base"` // what was read
	Value    string `json:"value"`
}

// Fields are those of an answer or of a notice.
type Fields map[string]any

// Hold is a lock that was granted. It may be an [Extender] or an [Asker], where About has "extend" or "ask" in its calls.
type Hold interface{ Release() error }

// Extender renews its lease. The answer has the new sent, and ttl_ns where it is not that of the request.
type Extender interface{ Extend() (Fields, error) }

// Settler keeps the data, too, where About has "settles": what is written takes effect with the release, all of it or nothing.
type Settler interface {
	Read(register string) (string, error)
	Write(register, base, value string) error
}

// Asker asks its library whether it still holds the lock.
type Asker interface{ Held() (bool, error) }

// Adapter is a lock. Its calls come from one goroutine, one after the other. The context of an attempt ends when its wait is to
// end; a try has none that ends.
type Adapter interface {
	About() Fields
	Open(p *Program, r Request) error
	Attempt(ctx context.Context, r Request) (Hold, Fields, error)
}

// Program is the adapter as a program.
type Program struct {
	adapter Adapter
	calls   chan Request

	writing sync.Mutex
	out     *os.File

	mu      sync.Mutex
	numbers int64
	going   map[int64]chan struct{}
	waits   map[int64]wait
	holds   map[int64]Hold // the worker's
}

// wait is that of an acquire, which can be cancelled.
type wait struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// Serve answers requests until the pipe ends. What is held then is not released.
func Serve(a Adapter) {
	p := &Program{
		adapter: a, out: pipe("LOCKSTORM_OUT"), calls: make(chan Request, 64), going: map[int64]chan struct{}{},
		waits: map[int64]wait{}, holds: map[int64]Hold{},
	}
	go p.work()
	in := bufio.NewReaderSize(pipe("LOCKSTORM_IN"), 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintf(os.Stderr, "the adapter cannot parse a request of lockstorm: %v: %s\n", err, line)
			os.Exit(1)
		}
		p.take(r)
	}
}

func pipe(name string) *os.File {
	fd, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		fmt.Fprintf(os.Stderr, "the environment variable %s does not contain the number of a file descriptor: do not start this "+
			"adapter by hand; lockstorm starts it (--backend exec:cmd=FILE)\n", name)
		os.Exit(1)
	}
	return os.NewFile(uintptr(fd), name)
}

// take answers at once what cannot wait for a call.
func (p *Program) take(r Request) {
	switch r.Op {
	case "hello":
		p.answer(r, "ok", Fields{"about": p.about()})
	case "ping":
		p.answer(r, "ok", Fields{"now": Now()})
	case "go":
		p.mu.Lock()
		gone := p.going[r.N]
		delete(p.going, r.N)
		p.mu.Unlock()
		if gone != nil {
			close(gone)
		}
	case "cancel":
		p.mu.Lock()
		w, waits := p.waits[r.Hold]
		p.mu.Unlock()
		if waits {
			w.cancel()
		}
	case "acquire":
		ctx, cancel := context.WithCancel(context.Background())
		p.mu.Lock()
		p.waits[r.ID] = wait{ctx, cancel}
		p.mu.Unlock()
		p.calls <- r
	default:
		p.calls <- r
	}
}

func (p *Program) about() Fields {
	about := p.adapter.About()
	about["protocol"], about["clock"] = 1, "monotonic"
	versions, _ := about["versions"].(Fields)
	if versions == nil {
		versions = Fields{}
	}
	versions["go"] = strings.TrimPrefix(runtime.Version(), "go")
	about["versions"] = versions
	return about
}

// work makes the calls, one after the other.
func (p *Program) work() {
	for r := range p.calls {
		answer, more, err := p.call(r)
		switch {
		case err == nil:
		case errors.Is(err, ErrBusy):
			answer = "busy"
		case errors.Is(err, ErrNotHeld):
			answer = "not-held"
		case errors.Is(err, ErrNotSent):
			answer = "not-sent"
		case errors.Is(err, ErrConflict):
			answer = "conflict"
		default:
			answer = "error"
		}
		if err != nil {
			more = Fields{"message": err.Error()}
		}
		p.answer(r, answer, more)
	}
}

func (p *Program) call(r Request) (answer string, more Fields, err error) {
	switch r.Op {
	case "open":
		return "ok", nil, p.adapter.Open(p, r)
	case "try", "acquire":
		ctx := context.Background()
		p.mu.Lock()
		if w, waits := p.waits[r.ID]; waits {
			ctx = w.ctx
		}
		p.mu.Unlock()
		hold, more, err := p.adapter.Attempt(ctx, r)
		p.mu.Lock()
		delete(p.waits, r.ID)
		p.mu.Unlock()
		p.holds[r.ID] = hold
		return "granted", more, err
	case "release":
		hold := p.holds[r.Hold]
		if hold == nil {
			return "", nil, fmt.Errorf("%w: the client has already released this grant", ErrNotHeld)
		}
		err := hold.Release()
		if err == nil {
			delete(p.holds, r.Hold)
		}
		return "ok", nil, err
	case "extend":
		if hold, can := p.holds[r.Hold].(Extender); can {
			more, err := hold.Extend()
			return "ok", more, err
		}
	case "read":
		if hold, can := p.holds[r.Hold].(Settler); can {
			value, err := hold.Read(r.Register)
			return "ok", Fields{"value": value}, err
		}
	case "write":
		if hold, can := p.holds[r.Hold].(Settler); can {
			return "ok", nil, hold.Write(r.Register, r.Base, r.Value)
		}
	case "ask":
		if hold, can := p.holds[r.Hold].(Asker); can {
			held, err := hold.Held()
			return "ok", Fields{"held": held}, err
		}
	}
	return "unsupported", nil, nil
}

// Lost tells that the library has signalled the loss of a lock.
func (p *Program) Lost(hold int64, message string) {
	p.say(Fields{"notice": "lost", "hold": hold, "message": message})
}

// Point waits at a point of the protocol, where a fault may strike. The report shows the line that calls it.
func (p *Program) Point(hold int64, name string) {
	at := Fields{"hold": hold, "name": name}
	if _, file, line, ok := runtime.Caller(1); ok {
		at["source"] = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	p.Wait("point", at)
}

// Wait tells of what needs a go, and waits for it. It returns the number by which to tell how that ended.
func (p *Program) Wait(notice string, more Fields) int64 {
	gone := make(chan struct{})
	p.mu.Lock()
	p.numbers++
	n := p.numbers
	p.going[n] = gone
	p.mu.Unlock()
	p.say(with(more, Fields{"notice": notice, "n": n}))
	<-gone
	return n
}

// Tell tells how that ended which was told of with Wait: renewed or gave-up.
func (p *Program) Tell(notice string, n int64, more Fields) {
	p.say(with(more, Fields{"notice": notice, "n": n}))
}

func (p *Program) answer(r Request, answer string, more Fields) {
	p.say(with(more, Fields{"id": r.ID, "answer": answer}))
}

func with(more, own Fields) Fields {
	for name, value := range more {
		own[name] = value
	}
	return own
}

// say writes a line, which leaves at once.
func (p *Program) say(line Fields) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.out.Write(append(text, '\n')) //nolint:errcheck // its reader has died, and ends us
}

// Version is the release of a module that this program was built with.
func Version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}
