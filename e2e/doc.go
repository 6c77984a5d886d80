// Package e2e is the fast suite: the commands that the README and the docs promise, run
// with the real binary against real servers, with the exit codes and verdicts that they
// must have. `make fast` runs it; it takes about three minutes. Most of what it runs are
// cases of package suite, which says what must come out of them.
//
// Two more suites take longer: the published failures with 20 seeds each (tag track,
// `make track-record`), and 200 runs over all pairs of backend and fault (tag soak, `make
// soak`).
package e2e
