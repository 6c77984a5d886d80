// Package docs is what is measured and written down beside the documentation, for programs.
package docs

import _ "embed"

// Claims are the answers of the runs of `make claims`, as docs/claims.md shows them: JSON, a list of
// own.Answer.
//
//go:embed claims.json
var Claims []byte
