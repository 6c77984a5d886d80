package facts

import "github.com/lockstorm/lockstorm/history"

// Owner identifies the holder of a lock to a counting store.
type Owner struct{ client, name string }

// OwnerOf returns the holder of a grant, as a counting store sees it.
func OwnerOf(g *history.Grant) Owner { return Owner{g.Client, g.Owner} }
