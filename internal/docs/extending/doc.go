// Package extending writes docs/extending.md: the text of page.md.tmpl with the code of
// examples/ownlock, whole declarations as they stand in its files. Its test fails when the page
// is stale:
//
//	go test ./internal/docs/extending -rewrite
package extending
