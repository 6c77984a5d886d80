package checker

import "github.com/lockstorm/lockstorm/history"

// owner is what a counting store sees of who holds the lock.
type owner struct{ client, name string }

func ownerOf(g *history.Grant) owner { return owner{g.Client, g.Owner} }
