package history

// Counted numbers the events again, in the history and in the log of their party, and corrects the counts in every
// end, as the recorder and the controller would have. It adds no end and moves none: it is for histories made or
// edited by hand.
func Counted(h *History) *History {
	next := map[string]int64{}
	lines := Lines(h.Events)
	for i := range lines {
		l := &lines[i]
		l.Index, l.Seq = int64(i), next[l.Party]
		next[l.Party]++
	}
	for i := range lines {
		l := &lines[i]
		if l.F != FEnd {
			continue
		}
		end := End{Events: next[l.Party]}
		if l.Party == PartyController {
			end.Parties = map[string]int64{}
			for party, n := range next {
				if party != l.Party {
					end.Parties[party] = n
				}
			}
		}
		l.Value = ValueOf(end)
	}
	h.Events = Events(lines...)
	return h
}
