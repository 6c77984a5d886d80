package conform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/adapter"
)

// seesOther looks at the namespaces of both adapters and of what they have started: kill(pid, 0) asks for a process of the
// caller's own PID namespace, and semop(2) changes a semaphore of its own IPC namespace.
func (x *bench) seesOther(context.Context) error {
	if len(x.t.Servers) > 0 {
		return skip("servers keep the lock")
	}
	for _, kind := range []string{"pid", "ipc"} {
		var all []string
		for _, l := range []backends.Locker{x.a, x.b} {
			pids, err := adapter.Processes(l)
			if err != nil {
				return err
			}
			for _, pid := range pids {
				space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
				switch {
				case errors.Is(err, fs.ErrPermission):
					return skip("its namespaces cannot be read: %v", err)
				case err == nil && !slices.Contains(all, space): // else it has ended
					all = append(all, space)
				}
			}
		}
		if len(all) > 1 {
			return fmt.Errorf("the clients run in several namespaces (%s): start them in one, or a lock that asks whether its holder "+
				"lives is misled", all)
		}
	}
	return nil
}
