package checker

// Registers of the protected resource.
const (
	regPlain  = "plain"
	regFenced = "fenced"
)
