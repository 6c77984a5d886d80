package companion

// Disk is the part that is a file system over a folder: see package disk, below this one. It mounts it in the mount namespace
// that it was started in, and answers a [DiskCall] in a line with a [DiskAnswer] in a line; one without a call says that it is
// mounted. With the end of its input it makes everything durable and ends; after a loss of power it ends at once.
const Disk = "disk"

// What a loss of power leaves of what was not synced.
const (
	KeepNothing = "nothing"
	KeepPrefix  = "prefix" // a random beginning, of each file and of the changes of names
	KeepTorn    = "torn"   // all but a part of the last page of each file
)

// DiskCall asks for a loss of power that keeps so much; without one, for everything to be made durable.
type DiskCall struct {
	Keeps string   `json:"keeps,omitempty"`
	Draw  uint64   `json:"draw,omitempty"`
	Words []string `json:"words,omitempty"` // to look for in what is lost
}

// DiskAnswer is what came of it.
type DiskAnswer struct {
	Error string `json:"error,omitempty"`
	Loss  Loss   `json:"loss,omitzero"`
}

// Loss is what a loss of power took away.
type Loss struct {
	Files   []LostFile `json:"files,omitempty"`   // those with words first, then those with most bytes
	Changes int        `json:"changes,omitempty"` // of names, and of sizes by truncate
}

// LostFile is a file that lost data.
type LostFile struct {
	Path  string   `json:"path"`
	Bytes int64    `json:"bytes"`
	New   bool     `json:"new,omitempty"`   // the file itself is new, and gone
	Words []string `json:"words,omitempty"` // those that were in the data
}
