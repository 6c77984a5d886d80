package history

// What a server says of itself, as in the values of f:role, and by which faults choose
// servers. A store may have others.
const (
	RoleMaster  = "master"  // takes writes; "leader" is another word for it
	RoleLeader  = "leader"  // the same, as stores with elections call it
	RoleReplica = "replica" // follows a master
	RoleDown    = "down"    // does not answer
)
