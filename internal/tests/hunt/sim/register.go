package sim

import "github.com/lockstorm/lockstorm/history"

// cell is one register of one lock: a plain one takes everything, a fenced one only what
// brings a token that is not older than the newest it has seen.
type cell struct {
	value   int64
	writes  int
	highest int64
	holder  *Grant
	read    map[*Grant]int // writes before its last read
	has     *Write         // whose value it is; nil: the first one
	knows   map[*Grant]*Write
	turns   int // requests that it answered
	shown   int // the one that showed its value last
}

type register struct {
	w     *world
	cells map[[2]string]*cell
}

func (r *register) cell(lock, name string) *cell {
	key := [2]string{lock, name}
	if r.cells[key] == nil {
		r.cells[key] = &cell{read: map[*Grant]int{}, knows: map[*Grant]*Write{}}
	}
	return r.cells[key]
}

// request is a read or a write as it reaches the register.
type request struct {
	g         *Grant
	use       *Use
	base, new int64
	tokenless bool
}

// serve answers a request and writes it into the register's log before that.
func (r *register) serve(q request) answer {
	cell := r.cell(q.g.Lock, q.use.Register)
	e := history.Line{F: q.use.F, Type: history.OK, Client: q.g.Client, Lock: q.g.Lock, Grant: q.g.ID, Register: q.use.Register}
	if r.w.cfg.Tokens && !q.tokenless {
		e.Token = history.Some(q.g.Token)
	}
	if q.use.F == history.FWrite && r.w.cfg.OwnFence && r.w.cfg.Service != Optimistic && r.w.svc.lock(q.g.Lock).of(q.g) == nil {
		return answer{code: history.ErrConflict}
	}
	if q.use.F == history.FWrite && r.w.cfg.Service == Optimistic && cell.value != q.base {
		if !r.w.bug(NoCondition) {
			return answer{code: history.ErrConflict}
		}
		r.w.breach(Breach{Kind: NoCondition, Grant: q.g})
	}
	if q.use.F == history.FWrite {
		e.Value = history.Value{Base: history.Some(q.base), New: history.Some(q.new)}
	}
	if q.use.Register == Fenced && !r.admits(cell, q) {
		r.answered(Refused, q.g)
		e.Type, e.Error = history.Fail, history.ErrStaleToken
		r.log(e)
		return answer{code: history.ErrStaleToken}
	}
	if q.use.F == history.FRead {
		return r.read(cell, q, e)
	}
	return r.write(cell, q, e)
}

// admits is the fence.
func (r *register) admits(cell *cell, q request) bool {
	t := q.g.Token
	ok := t > cell.highest || (t == cell.highest && (cell.holder == q.g || r.w.cfg.Together(cell.holder, q.g)))
	switch {
	case q.tokenless:
		r.answered(TookNone, q.g)
		return true
	case ok && cell.highest > 0 && t > cell.highest && r.w.newest(q.g) && r.w.bug(RefusesValid):
		r.w.breach(Breach{Kind: RefusesValid, Victim: q.g})
		return false
	case !ok && t == cell.highest && r.w.cfg.Bug == EqualToken && r.w.struck:
		r.w.breach(Breach{Kind: EqualToken, Grant: q.g, Victim: cell.holder})
		r.answered(TookEqual, q.g)
		return true
	case !ok && t < cell.highest && r.w.bug(OpenFence):
		r.w.breach(Breach{Kind: OpenFence, Grant: q.g, Victim: cell.holder})
		r.answered(TookStale, q.g)
		return true
	}
	if ok {
		cell.highest, cell.holder = t, q.g
	}
	return ok
}

func (r *register) answered(kind string, g *Grant) {
	r.w.truth.Answers = append(r.w.truth.Answers, &Answer{Kind: kind, Grant: g, At: r.w.now})
}

func (r *register) read(cell *cell, q request, e history.Line) answer {
	cell.read[q.g] = cell.writes
	cell.knows[q.g] = cell.has
	cell.turns++
	q.use.turn, q.use.saw = cell.turns, cell.has
	if !r.w.cfg.Unlogged { // else its client shows it, once it has the answer
		r.shows(q.g.Lock, q.use)
	}
	q.use.Applied = r.w.now
	e.Value.Base = history.Some(cell.value)
	r.log(e)
	return answer{ok: true, value: cell.value}
}

func (r *register) write(cell *cell, q request, e history.Line) answer {
	if r.w.bug(LiesAck) {
		r.w.breach(Breach{Kind: LiesAck, Victim: q.g})
		e.Type, e.Error = history.Fail, history.ErrOther
		r.log(e)
		return answer{ok: true}
	}
	r.log(e)
	q.use.Applied = r.w.now
	w := &Write{
		Grant: q.g, Lock: q.g.Lock, Register: q.use.Register, At: r.w.now, Since: cell.read[q.g], Use: q.use, Parent: cell.knows[q.g],
	}
	r.w.truth.Writes = append(r.w.truth.Writes, w)
	r.w.truth.Last[[2]string{q.g.Lock, q.use.Register}], cell.knows[q.g] = w, w
	cell.writes++
	cell.turns++
	cell.shown = cell.turns
	if cell.value != q.new && r.w.bug(DropsWrite) {
		r.w.breach(Breach{Kind: DropsWrite, Victim: q.g, Register: q.use.Register})
		return answer{ok: true}
	}
	cell.value, cell.has = q.new, w
	return answer{ok: true}
}

// shows is a read of which somebody has the answer.
func (r *register) shows(lock string, read *Use) {
	if cell := r.cell(lock, read.Register); read.turn > cell.shown {
		cell.shown = read.turn
		r.w.truth.Last[[2]string{lock, read.Register}] = read.saw
	}
}

// newest reports whether nobody was granted, or asked, after a grant.
func (w *world) newest(g *Grant) bool {
	for _, o := range w.truth.Grants {
		if o.Lock == g.Lock && o.Applied > g.Applied {
			return false
		}
	}
	return w.now+w.cfg.TTL/4 < g.LeaseAt(w.now)
}

// log writes what the register did into its log, where it keeps one.
func (r *register) log(e history.Line) {
	if !r.w.cfg.Unlogged {
		r.w.log(history.PartyRegister, e)
	}
}
