package redislibs

import (
	"strconv"

	"github.com/go-redsync/redsync/v4"

	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/internal/catalog"
	"github.com/lockstorm/lockstorm/internal/lists"
)

const (
	paramClient   = "client"
	clientGoRedis = "go-redis"
	clientRedigo  = "redigo"
)

// redsyncParams are the options of redsync, with its defaults.
var redsyncParams = []catalog.Param{
	{Name: paramClient, Default: clientGoRedis, Choices: []string{clientGoRedis, clientRedigo}, Doc: "go-redis or redigo, with " +
		"its defaults (redigo has no timeout)"},
	{Name: "tries", Default: "32", Doc: "WithTries: tries of one Lock"},
	{Name: "drift-factor", Default: "0.01", Doc: "WithDriftFactor: share of the ttl reserved for clock drift"},
	{Name: "timeout-factor", Default: "0.05", Doc: "WithTimeoutFactor: how long Lock waits for all nodes together, as a share of " +
		"the ttl"},
	{Name: "setnx-extend", Default: "no", Choices: catalog.YesNo(), Doc: "WithSetNXOnExtend: an extension sets the key again " +
		"where it has gone"},
	{Name: "fail-fast", Default: "no", Choices: catalog.YesNo(), Doc: "WithFailFast: stops waiting at a majority of equal answers"},
	{Name: "shuffle", Default: "no", Doc: "WithShufflePools: asks the nodes in random order", Choices: catalog.YesNo()},
}

func withRedsync(s backends.Spec, v catalog.Values) (backends.Spec, error) {
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
		if v[name] == "yes" {
			out = append(out, option)
		}
	}
	return out, nil
}

func defaultOf(name string) string {
	p, _ := lists.Find(redsyncParams, func(p catalog.Param) bool { return p.Name == name })
	return p.Default
}
