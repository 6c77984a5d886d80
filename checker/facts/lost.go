package facts

import "github.com/lockstorm/lockstorm/history"

// LostBy is the most updates that were lost by what some grants are about: one of them wrote, and another one of
// them lost an update to it. It is what [Results.LossOf] finds, whether or not the loss is one of those
// that are listed.
func (in *Facts) LostBy(grants []string) (most int64) {
	lost := in.lazy.losses()
	for _, writer := range grants {
		for _, victim := range grants {
			most = max(most, lost[[2]string{writer, victim}])
		}
	}
	return most
}

// findLosses are the greatest losses, by who wrote and who lost an update to it.
func (in *Facts) findLosses() map[[2]string]int64 {
	out := map[[2]string]int64{}
	for _, register := range []string{RegPlain, RegFenced} {
		if _, used := in.Run.Registers[register]; !used {
			continue
		}
		for _, s := range in.Replayed(register).Shown {
			writer, victims := s.Event.Grant, s.Others
			if s.What == ShowsReplaced { // who wrote last lost nothing
				writer, victims = s.Others[0].Grant, []*history.Event{s.Event}
			}
			for _, v := range victims {
				if pair := [2]string{writer, v.Grant}; s.Lost() > 0 && v.Grant != writer {
					out[pair] = max(out[pair], s.Lost())
				}
			}
		}
	}
	return out
}
