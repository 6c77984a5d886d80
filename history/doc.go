// Package history lets you read the record of a run, the only truth about it: [ReadFile] reads it, and [Build] tells who held
// what.
//
// Every party of a run (each client, the register, the nemesis, the controller) appends [Event] values to its own log
// through a [Recorder], and none is lost by SIGKILL. [Merge] joins the logs by time into one history file, [Read] reads such a
// file back and says where it is damaged, and [Build] pairs the events into [Call] and [Grant] values, from which
// the judges compute what each client could believe:
//
//	recorder -> logs/*.jsonl -> Merge -> history.jsonl -> Read -> Build -> checker
//
// All times are nanoseconds since the start of the run on CLOCK_MONOTONIC, one base for all processes of the host.
// docs/history.md describes the format for readers in other languages.
package history
