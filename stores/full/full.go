// Package full has the stores of package stores and the libraries that make a program much larger: what cmd/lockstorm-full
// and lockstorm's own tests know.
package full

import (
	"github.com/lockstorm/lockstorm/backends"
	"github.com/lockstorm/lockstorm/backends/rueidislib"
	"github.com/lockstorm/lockstorm/stores"
)

// All are the parts of all stores and libraries.
func All() []backends.Part { return append(stores.All(), rueidislib.Part()) }
