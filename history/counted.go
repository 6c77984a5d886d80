package history

// Counted numbers the events again, in the history and in the log of their party, and corrects the counts in every
// end, as the recorder and the controller would have. It adds no end and moves none: it is for histories made or
// edited by hand.
func Counted(h *History) *History {
	next := map[string]int64{}
	for i := range h.Events {
		e := &h.Events[i]
		e.Index, e.Seq = int64(i), next[e.Party]
		next[e.Party]++
	}
	for i := range h.Events {
		e := &h.Events[i]
		if e.F != FEnd {
			continue
		}
		end := End{Events: next[e.Party]}
		if e.Party == PartyController {
			end.Parties = map[string]int64{}
			for party, n := range next {
				if party != e.Party {
					end.Parties[party] = n
				}
			}
		}
		e.Value = ValueOf(end)
	}
	return h
}
