// Package conform holds adapters against the protocol: it runs two of them beside each other on real servers, through
// relays that count what leaves and keep back what comes, and says in a sentence which rule is broken.
//
//	Target -> Check -> []Result, one a rule
package conform
