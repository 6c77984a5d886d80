// Package adaptertest is an adapter for tests: a lock by files that are created and removed, and ways to lie about it.
package adaptertest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// AsAdapter begins the first argument by which a test binary is an adapter; the way in which it lies follows.
const AsAdapter = "adapter:"

// Honest is the way that does not lie; Lies are those that a conformance program must find.
const Honest = "honest"

// Hesitant is honest, but the first of its tries are of unknown outcome, though they create the file, and so is the first that
// finds it: a library that gives up requests on a busy host.
const Hesitant = "hesitant"

// Lies are ways to break the protocol.
func Lies() []string {
	return []string{
		"early", "false-not-sent", "noise", "neither", "long", "dies", "clock", "backdated", "reused", "ok", "timeless",
		"token", "late-deadline", "twice", "renamed", "releases-twice", "releases-all", "stays", "knows-all", "unheard", "unheard-busy",
	}
}

// Main turns this process into an adapter where it was started as one, and then never returns. Call it first in TestMain.
func Main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], AsAdapter) {
		fake{way: strings.TrimPrefix(os.Args[1], AsAdapter), held: map[int64]string{}, met: map[string]bool{}}.serve()
		os.Exit(0)
	}
	// A binary with the race detector sleeps for a second before it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) //nolint:errcheck // a sound name
}

// fake is a lock by files that are created and removed, and ways to lie about it.
type fake struct {
	way  string
	dir  string
	held map[int64]string // path by attempt
	met  map[string]bool  // paths of others
}

type asked struct {
	ID   int64  `json:"id"`
	Op   string `json:"op"`
	Lock string `json:"lock"`
	Hold int64  `json:"hold"`
	Dir  string `json:"dir"`
	N    int64  `json:"n"`

	Params map[string]string `json:"params"`
}

func (f fake) serve() {
	in, out := os.NewFile(3, "in"), os.NewFile(4, "out")
	say := func(id int64, format string, args ...any) {
		fmt.Fprintf(out, `{"id":%d,"unheard-of":1,%s}`+"\n", id, fmt.Sprintf(format, args...))
	}
	tries, n := 0, int64(0)
	var later func()
	for s := bufio.NewScanner(in); s.Scan(); {
		var q asked
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			panic(err)
		}
		if later != nil {
			later()
			later = nil
		}
		switch q.Op {
		case "hello":
			f.hello(q, say)
		case "open":
			f.dir = q.Dir
			f.open(q, say)
		case "ping":
			now := mono()
			switch f.way {
			case "clock":
				now = time.Now().UnixNano()
			case "sleepy": // as one that collects garbage
				time.Sleep(60 * time.Millisecond)
			}
			say(q.ID, `"answer":"ok","now":"%d"`, now)
		case "collect":
			f.collect(q, say)
		case "try":
			tries++
			later = f.try(q, tries, out, say)
			if f.way == "renews" {
				n++
				fmt.Fprintf(out, `{"notice":"renewing","hold":%d,"n":%d}`+"\n", q.ID, n)
			}
		case "go":
			fmt.Fprintf(out, `{"notice":"renewed","n":%d,"sent":%d}`+"\n", q.N, mono())
			fmt.Fprintf(out, `{"notice":"lost","hold":%d,"message":"for the test"}`+"\n", 23)
		case "release":
			f.release(q, say)
		case "extend":
			say(q.ID, `"answer":"ok","sent":%d,"ttl_ns":"2000000000"`, mono())
		case "ask":
			_, held := f.held[q.Hold]
			say(q.ID, `"answer":"ok","held":%t`, held)
		default:
			if f.way == "knows-all" {
				say(q.ID, `"answer":"ok"`)
				continue
			}
			say(q.ID, `"answer":"unsupported"`)
		}
	}
	for f.way == "stays" {
		unix.Pause() //nolint:errcheck // a signal that is none for us
	}
}

func (f fake) open(q asked, say func(int64, string, ...any)) {
	if f.way == "params" && (q.Params["given"] != "yes" || q.Params["left"] != "out") {
		say(q.ID, `"answer":"error","message":"params %v"`, q.Params)
		return
	}
	say(q.ID, `"answer":"ok"`)
}

func (f fake) hello(q asked, say func(int64, string, ...any)) {
	switch f.way {
	case "missing":
		fmt.Fprintln(os.Stderr, "apt install what-it-needs")
		os.Exit(69)
	case "crash":
		fmt.Fprintln(os.Stderr, "boom")
		os.Exit(3)
	case "old":
		say(q.ID, `"answer":"ok","about":{"protocol":0,"name":"fake","ends":"lease"}`)
		return
	case "flood":
		for range 3 << 10 {
			fmt.Fprintln(os.Stdout, strings.Repeat("x", 1<<10))
		}
	}
	version := "2"
	if f.way == "renamed" {
		version = time.Now().String()
	}
	params := `[]`
	if f.way == "params" {
		params = `[{"name":"given","default":"no","doc":"is given"},{"name":"left","default":"out","doc":"is left out"}]`
	}
	say(q.ID,
		`"answer":"ok","about":{"protocol":1,"name":"fake","version":"%s","ends":"lease","clock":"monotonic",`+
			`"calls":["extend","ask"],"renews":true,"params":%s}`, version, params)
}

// try makes one try; what it returns is to be said with the next request.
func (f fake) try(q asked, tries int, out *os.File, say func(int64, string, ...any)) (later func()) {
	switch f.way {
	case "dies":
		if tries == 2 {
			fmt.Fprintln(os.Stderr, "killed by a bug")
			os.Exit(7)
		}
	case "noise":
		if tries == 2 {
			fmt.Fprintln(out, "Connected to the server.")
		}
	case "neither":
		fmt.Fprintf(out, "{\"id\":%d}\n", q.ID)
	case "long":
		fmt.Fprintln(out, strings.Repeat("x", 100<<10))
	}
	sent, path := mono(), filepath.Join(f.dir, q.Lock)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) && f.way != "early" {
		if f.way == "unheard-busy" || f.way == Hesitant && len(f.met) == 0 {
			say(q.ID, `"answer":"error","message":"no answer from the store"`)
		} else {
			say(q.ID, `"answer":"busy"`)
		}
		f.met[path] = true
		return nil
	}
	file.Close() //nolint:errcheck // only its name counts
	f.held[q.ID] = path
	return f.answer(q, tries, sent, say)
}

// answer answers a try that got the lock.
func (f fake) answer(q asked, tries int, sent int64, say func(int64, string, ...any)) (later func()) {
	if f.way == "unheard" || f.way == Hesitant && tries <= 2 {
		say(q.ID, `"answer":"error","message":"no answer from the store"`)
		return nil
	}
	granted := fmt.Sprintf(`"answer":"granted","sent":%d`, sent)
	switch f.way {
	case "reused":
		q.ID--
	case "twice":
		say(q.ID, "%s", granted)
	case "late": // the first one is told of with the next request
		if tries == 1 {
			return func() { say(q.ID, "%s", granted) }
		}
	}
	say(q.ID, "%s", cmp.Or(map[string]string{
		"reused": granted, "twice": granted, "late": granted,
		"false-not-sent": `"answer":"not-sent"`,
		"backdated":      fmt.Sprintf(`"answer":"granted","sent":%d`, sent-int64(time.Second)),
		"ok":             fmt.Sprintf(`"answer":"ok","sent":%d`, sent),
		"timeless":       `"answer":"granted"`,
		"token":          granted + `,"token":"12"`,
		"late-deadline":  fmt.Sprintf(`%s,"ttl_ns":1000000000,"deadline":%d`, granted, sent+1e9+1),
	}[f.way], granted+`,"ttl_ns":1000000000`))
	return nil
}

// collect stands still, as if its garbage were collected, and says so in the way that it has.
func (f fake) collect(q asked, say func(int64, string, ...any)) {
	from := mono()
	time.Sleep(60 * time.Millisecond)
	switch f.way {
	case "collects":
		say(q.ID, `"answer":"ok","from":%d,"to":%d,"message":"full collection"`, from, mono())
	case "collects-before": // it was asked
		say(q.ID, `"answer":"ok","from":%d,"to":%d,"message":"full collection"`, from-time.Hour.Nanoseconds(), mono())
	case "collects-silently":
		say(q.ID, `"answer":"ok"`)
	default:
		say(q.ID, `"answer":"unsupported"`)
	}
}

func (f fake) release(q asked, say func(int64, string, ...any)) {
	path, ok := f.held[q.Hold]
	if f.way == "releases-twice" {
		os.Remove(path) //nolint:errcheck // that is the lie
		say(q.ID, `"answer":"ok"`)
		return
	}
	if !ok || os.Remove(path) != nil {
		say(q.ID, `"answer":"not-held"`)
		return
	}
	delete(f.held, q.Hold)
	if f.way == "releases-all" { // as what ends the one transaction of its connection
		for _, path := range f.held {
			os.Remove(path) //nolint:errcheck // that is the lie
		}
	}
	say(q.ID, `"answer":"ok"`)
}

func mono() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}
