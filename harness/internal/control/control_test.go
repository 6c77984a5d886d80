package control

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lockstorm/lockstorm/cluster"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

// ends are a controller's channel and that of its client.
func ends(t *testing.T) (ours, theirs *Channel) {
	t.Helper()
	ours, file, err := SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = FromFile(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ours.Close()   //nolint:errcheck // some tests have closed it
		theirs.Close() //nolint:errcheck // as above
	})
	return ours, theirs
}

// What a client is told arrives as it was meant: names with blanks, quotes and line ends, deadlines of zero and none.
func TestMessagesArriveAsTheyWereSent(t *testing.T) {
	ours, theirs := ends(t)
	zero := int64(0)
	config := &Config{
		Head: history.Run{Ends: history.EndsLease}, Client: `c 1 "ä"` + "\n", Seed: 1<<63 + 1, Dir: "/tmp/a b", ClockBase: -1,
		TTL:     int64(time.Second),
		Backend: Choice{Name: "redis-lua", Values: catalog.Values{"token": `it's "equal"`}},
		Addrs:   map[string]string{"n 1": "127.0.0.1:1"},
		Nodes:   []cluster.Ref{{Name: "n 1"}}, Locks: []string{"L1", "L\t2"}, Registers: []string{"plain"}, OnlyTold: true,
	}
	for _, sent := range []Message{
		{Op: Configure, Config: config},
		{
			Op: Reached, Point: "before-write", Grant: "c1-1", Deadline: &zero,
			Nodes: []string{"n1", "n2"},
		},
		{Op: Reached},
		{Op: Arm, ID: 7, Nth: 3, Lock: "L\n1", GrantedBy: -1},
		{Op: Failed, Text: "a\nb"},
		{Op: Collect, Length: 1, Error: "no"},
	} {
		if err := ours.Send(sent); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, theirs); !reflect.DeepEqual(got, sent) {
			t.Errorf("received %+v, want %+v", got, sent)
		}
	}
}

// Several may tell at once: no message is torn by another one.
func TestSendersDoNotTearMessages(t *testing.T) {
	ours, theirs := ends(t)
	const senders, each = 8, 50
	long := strings.Repeat("x", 5000)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				if err := ours.Send(Message{Op: Failed, ID: s*each + i, Text: long}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var ids []int
	for range senders * each {
		m := receive(t, theirs)
		if m.Text != long {
			t.Fatal("a torn message")
		}
		ids = append(ids, m.ID)
	}
	all.Wait()
	slices.Sort(ids)
	if len(slices.Compact(ids)) != senders*each {
		t.Error("a message came twice")
	}
}

// Whoever listens learns that the other side is gone, and who tells it something does too.
func TestTheOtherSideIsGone(t *testing.T) {
	ours, theirs := ends(t)
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("received %v", err)
	}
	if err := ours.Send(Message{Op: Go}); !errors.Is(err, unix.EPIPE) {
		t.Errorf("sent: %v", err)
	}
}

// A file that is no socket is refused with a sentence, and closed.
func TestAFileIsNoChannel(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(f); err == nil || !strings.Contains(err.Error(), "control channel") {
		t.Errorf("opened: %v", err)
	}
	if _, err := f.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file is still open: %v", err)
	}
}
