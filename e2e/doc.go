// Package e2e is the fast suite: the commands that the README and the docs promise, run
// with the real binary against real servers, with the exit codes and verdicts that they
// must have. `make fast` runs it; it takes about two minutes.
package e2e
