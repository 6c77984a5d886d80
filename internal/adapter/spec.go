package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

// Name is the name of the backend: exec:cmd=FILE, with the arguments of FILE behind --.
const Name = "exec"

const (
	paramCmd = "cmd"
	local    = "local" // the topology without servers
)

// Spec is the backend that runs adapters. What it is, its adapter says: With starts it, asks, and ends it.
func Spec() backends.Spec {
	return backends.Spec{
		Name: Name, Doc: "a lock in any language, tested through an adapter: a program that talks with lockstorm in lines of JSON " +
			"over two pipes (docs/adapters.md)",
		Topologies: []string{local}, Ends: history.EndsNever, Arguments: true, OwnParams: true,
		Params: []catalog.Param{{Name: paramCmd, Doc: "the adapter program to start; write its arguments after --"}},
		With:   with,
		Open: func(context.Context, backends.Env) (backends.Locker, error) {
			return nil, errors.New("cmd=FILE is missing: name the adapter program to start")
		},
	}
}

// with is the spec as the adapter describes itself. Without a program it is as it is.
func with(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if v[paramCmd] == "" {
		if v[backends.ParamArguments] != "" {
			return s, errors.New("cmd=FILE is missing: name the adapter program to start")
		}
		return s, nil
	}
	argv, err := command(v)
	if err != nil {
		return s, err
	}
	var d Description
	if said := v[backends.ParamDescription]; said != "" { // we are a client
		err = json.Unmarshal([]byte(said), &d)
	} else {
		d, err = Describe(argv)
	}
	if err != nil {
		return s, err
	}
	return d.spec(s, argv)
}

// command is the program with its arguments.
func command(v catalog.Values) ([]string, error) {
	args, err := backends.Arguments(v)
	if err != nil {
		return nil, err
	}
	file, err := Find(v[paramCmd])
	if err != nil {
		return nil, fmt.Errorf("cmd=%w", err)
	}
	return append([]string{file}, args...), nil
}

// Find returns the path of an adapter's program.
func Find(program string) (string, error) {
	file, err := exec.LookPath(program)
	if err == nil {
		return file, nil
	}
	_, here := os.Stat(program)
	switch slash := strings.ContainsRune(program, '/'); {
	case here == nil && slash:
		return "", fmt.Errorf("%s cannot be run: make it executable (chmod +x)", program)
	case slash:
		return "", fmt.Errorf("%s: there is no such program", program)
	}
	return "", fmt.Errorf("%s is not on PATH: for a program in this folder write ./%s", program, program)
}

// describeLimit is how long an adapter may take to say what it is: a virtual machine takes its time to start, most of all on a
// busy host.
const describeLimit = time.Minute

// prepareLimit is how long one may take that says what it prepares: its own program is built, or a server.
const prepareLimit = time.Hour

// clientWord in an argument stands for the name of the client whose adapter it is: clients may differ.
const clientWord = "{client}"

// of is a command as one client has it, and whether others have another one.
func of(argv []string, client string) (own []string, differ bool) {
	own = lists.Map(argv, func(word string) string { return strings.ReplaceAll(word, clientWord, client) })
	return own, !slices.Equal(own, argv)
}

// described remembers what programs have said of themselves, as long as they stay the same.
var described = struct {
	sync.Mutex
	by map[string]Description
}{by: map[string]Description{}}

// Describe asks an adapter what it is; where those of clients differ, the one of the first.
func Describe(argv []string) (Description, error) {
	argv, _ = of(argv, "c1")
	key, err := identity(argv)
	if err != nil {
		return Description{}, err
	}
	described.Lock()
	defer described.Unlock()
	d, ok := described.by[key]
	if ok {
		return d, nil
	}
	if d, err = ask(argv); err == nil {
		described.by[key] = d
	}
	return d, err
}

// ask starts an adapter, has it say what it is, and ends it.
func ask(argv []string) (Description, error) {
	p, err := start(argv, io.Discard, func() int64 { return 0 }, func(line, int64) error {
		return breach("the adapter sent a notice before \"open\"")
	})
	if err != nil {
		return Description{}, err
	}
	defer p.end()
	return p.hello()
}

// identity is the command, and the file as it is now.
func identity(argv []string) (string, error) {
	info, err := os.Stat(argv[0])
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(argv)
	return fmt.Sprintf("%s %d %d", b, info.Size(), info.ModTime().UnixNano()), err
}

// hello asks a program that was started what it is.
func (p *program) hello() (Description, error) {
	a := p.about(time.After(describeLimit))
	switch {
	case errors.Is(a.err, errEnded):
		how := p.howEnded()
		select {
		case <-p.exited:
			if p.unavailable() {
				return Description{}, fmt.Errorf("%w: %s: %w", backends.ErrMissing, p.path, how)
			}
		default:
		}
		return Description{}, fmt.Errorf("adapter %s ended before it answered \"hello\": %w", p.path, how)
	case a.err != nil:
		return Description{}, fmt.Errorf("adapter %s did not answer \"hello\": %w", p.path, a.err)
	case a.Answer != ansOK:
		return Description{}, fmt.Errorf("adapter %s answered \"hello\" with %q, not \"ok\"%s", p.path, a.Answer, after(a.Message))
	}
	return a.About, a.About.valid()
}

// about waits for what the adapter says of itself, longer where it says what it prepares first, which is told on standard error.
func (p *program) about(limit <-chan time.Time) answer {
	_, one, err := p.ask(request{Op: opHello, Protocol: Protocol})
	if err != nil {
		return answer{err: err}
	}
	for longer := false; ; {
		select {
		case a := <-one.answer:
			return a
		case what := <-p.prepares:
			fmt.Fprintf(os.Stderr, "adapter %s: %s\n", filepath.Base(p.path), what)
			if !longer {
				limit, longer = time.After(prepareLimit), true
			}
		case <-limit:
			return answer{err: errNoTime}
		}
	}
}

// valid returns what is wrong with a description, beyond what every spec must meet.
func (d Description) valid() error {
	switch {
	case d.Protocol != Protocol:
		return fmt.Errorf("the adapter has protocol %d, not %d", d.Protocol, Protocol)
	case d.Name == "":
		return errors.New("the description lacks \"name\"")
	case d.Clock != "" && d.Clock != clockMonotonic:
		return fmt.Errorf("the description has the clock %q: write %q, or leave it out", d.Clock,
			clockMonotonic)
	case d.NoTry && !d.Waits:
		return errors.New("the adapter has \"no_try\" and no \"waits\": it needs \"try\" or \"acquire\"")
	}
	for _, c := range d.Calls {
		if !slices.Contains(calls, c) {
			return fmt.Errorf("\"calls\" has the unknown %q: choose from %s", c,
				strings.Join(calls, ", "))
		}
	}
	for _, s := range d.Signals {
		switch s.Kind {
		case backends.SignalContext, backends.SignalError, backends.SignalChannel, backends.SignalMethod:
		default:
			return fmt.Errorf("\"signals\" has the unknown kind %q: choose from %s, %s, %s, %s", s.Kind,
				backends.SignalContext, backends.SignalError, backends.SignalChannel, backends.SignalMethod)
		}
	}
	return nil
}

// calls are what a description may name.
var calls = []string{backends.CallExtend, backends.CallAsk, opCollect}

// spec is a backend as an adapter describes it.
func (d Description) spec(s backends.Spec, argv []string) (backends.Spec, error) {
	s.Doc, s.Ends, s.Model, s.Tokens, s.Fair = cmp.Or(d.Doc, s.Doc), d.Ends, d.Model, d.Tokens, d.Fair
	s.Renews, s.Buffers, s.NoTry, s.Settles, s.Collects = d.Renews, d.Buffers, d.NoTry, d.Settles,
		slices.Contains(d.Calls, opCollect)
	s.Calls = slices.DeleteFunc(slices.Clone(d.Calls), func(c string) bool { return c == opCollect }) // which is none of its users
	s.NoClock = d.Clock == ""
	s.Library, s.Notes, s.Recovery = d.Library, d.Notes, time.Duration(d.Recovery)
	if len(d.Topologies) > 0 {
		s.Topologies = d.Topologies
	}
	brings, err := d.brings()
	if err != nil {
		return s, err
	}
	if len(brings.Nodes) > 0 {
		s.Topologies, s.Brings = []string{brings.Name}, &brings
	}
	s.Signals, s.Points = d.Signals, d.Points
	if slices.ContainsFunc(d.Params, func(p catalog.Param) bool { return p.Name == paramCmd }) {
		return s, fmt.Errorf("the parameter %q of the description needs another name: this one is the program's", paramCmd)
	}
	s.Params = slices.Concat(s.Params, d.Params)
	s.Versions = map[string]string{"adapter": strings.TrimSpace(d.Name + " " + d.Version)}
	if d.Library != "" {
		s.Versions["library"] = d.Library
	}
	maps.Copy(s.Versions, d.Versions)
	if s.Brings != nil {
		s.Versions["data of the servers"] = "survives kill -9"
		if s.Brings.Volatile {
			s.Versions["data of the servers"] = "lost by a restart"
		}
	}
	if len(d.Keys) > 0 {
		s.Keys = func(run, lock string) (keys []string) {
			return lists.Map(d.Keys, func(k string) string { return strings.NewReplacer("{run}", run, "{lock}", lock).Replace(k) })
		}
	}
	said, err := json.Marshal(d)
	if err != nil {
		return s, err
	}
	s.Beside, s.With, s.Description = true, nil, string(said)
	s.Open = func(ctx context.Context, env backends.Env) (backends.Locker, error) { return open(ctx, d, argv, env) }
	return s, s.Valid()
}

// SpecOf is the backend of an adapter that has described itself.
func SpecOf(d Description, argv []string) (backends.Spec, error) { return d.spec(Spec(), argv) }

// Probe asks an adapter that runs what nobody has heard of: it must say so, and go on.
func Probe(l backends.Locker) error {
	a := l.(*locker).call(request{Op: "unheard-of", Owner: "nobody"}, describeLimit) //nolint:forcetypeassert // every adapter's is one
	switch {
	case a.err != nil:
		return fmt.Errorf("answer \"unsupported\" to an unknown request: %w", a.err)
	case a.Answer != ansUnsupported:
		return fmt.Errorf("answer \"unsupported\" to an unknown request, not %q", a.Answer)
	}
	return nil
}
