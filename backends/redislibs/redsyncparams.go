package redislibs

import (
	"fmt"
	"strconv"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
)

const (
	paramClient   = "client"
	clientGoRedis = "go-redis"
	clientRedigo  = "redigo"
)

// redsyncParams are the options of redsync, with its defaults.
var redsyncParams = []catalog.Param{
	{Name: paramClient, Default: clientGoRedis, Doc: "the Redis client that redsync uses: go-redis or redigo, each with its default settings (connections of redigo have no timeout)"},
	{Name: "tries", Default: "32", Doc: "WithTries: number of times that one call of Lock tries to get the lock"},
	{Name: "drift-factor", Default: "0.01", Doc: "WithDriftFactor: fraction of the time to live that is reserved for clock drift"},
	{Name: "timeout-factor", Default: "0.05", Doc: "WithTimeoutFactor: time that Lock waits for all nodes together, as a fraction of the time to live"},
	{Name: "setnx-extend", Default: "no", Doc: "WithSetNXOnExtend: an extension sets the lock's key again on nodes where the key has disappeared"},
	{Name: "fail-fast", Default: "no", Doc: "WithFailFast: redsync stops waiting for nodes as soon as a majority of them has given the same answer"},
	{Name: "shuffle", Default: "no", Doc: "WithShufflePools: redsync asks the nodes in random order"},
}

func withRedsync(s backends.Spec, v catalog.Values) (backends.Spec, error) {
	if c := v[paramClient]; c != clientGoRedis && c != clientRedigo {
		return s, fmt.Errorf("%s=%s: choose %s or %s", paramClient, c, clientGoRedis, clientRedigo)
	}
	_, err := redsyncOptions(v)
	return s, err
}

// redsyncOptions are those that were given another value than the library's own.
func redsyncOptions(v catalog.Values) ([]redsync.Option, error) {
	var out []redsync.Option
	tries, err := v.Count("tries", 0)
	if err != nil {
		return nil, err
	}
	if v["tries"] != "32" {
		out = append(out, redsync.WithTries(tries))
	}
	for name, option := range map[string]func(float64) redsync.Option{
		"drift-factor": redsync.WithDriftFactor, "timeout-factor": redsync.WithTimeoutFactor,
	} {
		f, err := v.Fraction(name)
		if err != nil {
			return nil, err
		}
		if strconv.FormatFloat(f, 'g', -1, 64) != defaultOf(name) {
			out = append(out, option(f))
		}
	}
	for name, option := range map[string]redsync.Option{
		"setnx-extend": redsync.WithSetNXOnExtend(), "fail-fast": redsync.WithFailFast(true), "shuffle": redsync.WithShufflePools(true),
	} {
		yes, err := v.Bool(name)
		if err != nil {
			return nil, err
		}
		if yes {
			out = append(out, option)
		}
	}
	return out, nil
}

func defaultOf(name string) string {
	for _, p := range redsyncParams {
		if p.Name == name {
			return p.Default
		}
	}
	return ""
}
