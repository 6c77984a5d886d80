package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// tokens: two grants have one token (duplicate), or a later one a lower token (regress).
func (s *scene) tokens(c Claim) (span history.Interval, err error) {
	of, err := s.granted(c, 2)
	if err != nil {
		return span, err
	}
	a, b := of[0], of[1]
	span = history.Interval{From: b.Sent(), To: b.From()}
	switch before, after := a.Token(), b.Token(); {
	case !before.Set || !after.Set:
		return span, errors.New("at least one of the two grants in the finding has no fencing token, so the tokens cannot be compared")
	case c.Rule == "duplicate" && s.Model.Together(a, b):
		return span, fmt.Errorf("by the rules of this lock, two clients are allowed to hold the grants %s and %s at the same time, "+
			"so the same token in both is no violation", a.ID, b.ID)
	case c.Rule == "duplicate" && before.V != after.V:
		return span, fmt.Errorf("the finding says that the two grants have the same fencing token, but the tokens are different (%d "+
			"and %d)", before.V, after.V)
	case c.Rule == "duplicate" && s.askedFirst(b, a):
		return span, fmt.Errorf("grant %s was requested before grant %s: the finding must name the earlier grant first", b.ID, a.ID)
	case c.Rule == "regress" && a.Mode == history.ModeShared && b.Mode == history.ModeShared && s.Model.Together(a, b):
		return span, errors.New("the two grants belong to readers that are allowed to hold the lock at the same time: the tokens of " +
			"such readers can come in any order, so a lower token is no violation")
	case c.Rule == "regress" && (a.From() >= b.Sent() || before.V <= after.V):
		return span, fmt.Errorf("the events do not show falling tokens. Tokens fall if the second client sends its request after the "+
			"first client has got its grant, but gets a lower token (here: second grant %d, first grant %d)", after.V, before.V)
	}
	return span, nil
}

// fellFromNewest: the first grant has the highest token of those that were known before the second one was sent for, and is the
// first of those that have it; no other one has the second one's token.
func (s *scene) fellFromNewest(c Claim) error {
	a, b := s.ByID[c.Grants[0]], s.ByID[c.Grants[1]]
	shared := func(x, y *history.Grant) bool {
		return x.Mode == history.ModeShared && y.Mode == history.ModeShared && s.Model.Together(x, y)
	}
	if slices.ContainsFunc(s.ByLock[a.Lock], func(o *history.Grant) bool {
		twin := o != b && o.Token() == b.Token() && s.askedFirst(o, b) && !s.Model.Together(o, b)
		first := o.Token() == a.Token() && (o.Mode < a.Mode || (o.Mode == a.Mode && s.before(o, a)))
		return o.Token().Set && (twin || (o.From() < b.Sent() && (o.Token().V > a.Token().V || first) && !shared(o, b)))
	}) {
		return errors.New("the finding must name the grant with the highest token; a token of two grants is a duplicate")
	}
	return nil
}
