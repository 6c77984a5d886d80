package facts

import "github.com/lockstorm/lockstorm/history"

// Owner is what a counting store sees of who holds the lock.
type Owner struct{ client, name string }

// OwnerOf is who holds a grant, as a counting store sees it.
func OwnerOf(g *history.Grant) Owner { return Owner{g.Client, g.Owner} }
