package facts

// Registers of the protected resource.
const (
	RegPlain  = "plain"
	RegFenced = "fenced"
)
