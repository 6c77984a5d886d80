// Package stacks writes the files of compose/ from the topologies: the same servers, with the same
// arguments and files, on fixed ports of the host, for looking at them by hand or for --provider
// external. Its test fails when the files are stale:
//
//	go test ./internal/docs/stacks -rewrite
package stacks
