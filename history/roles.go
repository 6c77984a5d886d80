package history

// Roles that servers report, as in the values of f:role; faults choose servers by them. A store may have others.
const (
	RoleMaster   = "master"   // takes writes; "leader" is another word for it
	RoleLeader   = "leader"   // the same, as stores with elections call it
	RoleReplica  = "replica"  // follows a master
	RoleFollower = "follower" // the same, as stores with elections call it
	RoleDown     = "down"     // does not answer
)

// Leads reports whether a role is that of a server that takes writes, whatever its store calls it.
func Leads(role string) bool { return role == RoleMaster || role == RoleLeader }

// Follows reports whether a role is that of a server that follows another.
func Follows(role string) bool { return role == RoleReplica || role == RoleFollower }
