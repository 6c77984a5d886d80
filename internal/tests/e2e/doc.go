// Package e2e is the fast suite: the commands that the README and the docs promise, run
// with the real binary against real servers, with the exit codes and verdicts that they
// must have. `make fast` runs it; it takes about three minutes. Most of what it runs are
// cases of package suite, which says what must come out of them.
//
// All of it has the build tag series. What takes longer, or writes a page of docs, is a TestSeries (`make series
// RUN=NAME`); what needs Docker is a TestContainers.
package e2e
