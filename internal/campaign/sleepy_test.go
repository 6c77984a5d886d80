package campaign

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/internal/campaign/queue"
)

// Environment of a worker process of these tests.
const (
	workerOf   = "LOCKSTORM_TEST_QUEUE"
	workerJobs = "LOCKSTORM_TEST_JOBS"
	workerNap  = "LOCKSTORM_TEST_NAP"
)

// sleepyWorker is a worker process.
func sleepyWorker(url string) int {
	err := func() error {
		ctx := context.Background()
		q, err := queue.Open(ctx, queue.Access{URL: url})
		if err != nil {
			return err
		}
		defer q.Close()
		name, err := Choose(ctx, q, "")
		if err != nil {
			return err
		}
		c, err := Open(ctx, q, name)
		if err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "lockstorm-sleepy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
		jobs, err := strconv.Atoi(cmp.Or(os.Getenv(workerJobs), "1"))
		if err != nil {
			return err
		}
		nap, err := time.ParseDuration(cmp.Or(os.Getenv(workerNap), "1s"))
		if err != nil {
			return err
		}
		w := &Worker{
			Campaign: c, Catalogue: catalogue(), Name: fmt.Sprintf("w%d", os.Getpid()), Machine: "here", Dir: dir, Jobs: jobs,
			Room: 1 << 40, Do: sleepy(nap),
		}
		return w.Run(ctx)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
