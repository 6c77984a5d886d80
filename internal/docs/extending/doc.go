// Package extending writes docs/extending.md and docs/own-lock.md: texts with code of examples/ownlock, whole declarations as
// they stand in its files. Its test fails when a page is stale:
//
//	go test ./internal/docs/extending -rewrite
package extending
