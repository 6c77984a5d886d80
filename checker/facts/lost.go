package facts

import (
	"cmp"

	"github.com/lockstorm/lockstorm/history"
)

// Loss counts the acknowledged updates that were overwritten unseen, and those of them that are lost for good.
type Loss struct{ Lost, Overwritten int64 }

// Compare orders losses, lasting ones first.
func (l Loss) Compare(o Loss) int {
	return cmp.Or(cmp.Compare(o.Lost, l.Lost), cmp.Compare(o.Overwritten, l.Overwritten))
}

// LossBy returns the greatest loss among some grants: one of them wrote, and another lost an update to it.
// [Results.LossOf] finds the same loss, but only among listed findings.
func (in *Facts) LossBy(grants []string) (most Loss) {
	losses := in.lazy.losses()
	for _, writer := range grants {
		for _, victim := range grants {
			if l := losses[[2]string{writer, victim}]; l.Compare(most) < 0 {
				most = l
			}
		}
	}
	return most
}

// findLosses are the greatest losses, by who wrote and who lost an update to it.
func (in *Facts) findLosses() map[[2]string]Loss {
	out := map[[2]string]Loss{}
	for _, register := range []string{RegPlain, RegFenced} {
		if _, used := in.Run.Registers[register]; !used {
			continue
		}
		for _, s := range in.Replayed(register).Shown {
			writer, victims := s.Event.Grant(), s.Others
			if s.What == ShowsReplaced { // who wrote last lost nothing
				writer, victims = s.Others[0].Grant(), []*history.Event{s.Event}
			}
			for _, v := range victims {
				pair := [2]string{writer, v.Grant()}
				if l := s.Loss(); l.Compare(out[pair]) < 0 {
					out[pair] = l
				}
			}
		}
	}
	return out
}
