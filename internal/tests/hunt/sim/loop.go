package sim

import "container/heap"

// loop is virtual time: steps in order of their moments, those of one moment in the order in
// which they were asked for.
type loop struct {
	now   int64
	count int
	steps stepHeap
}

type step struct {
	at    int64
	count int
	do    func()
}

func (l *loop) at(t int64, do func()) {
	l.count++
	heap.Push(&l.steps, step{max(t, l.now), l.count, do})
}

func (l *loop) after(d int64, do func()) { l.at(l.now+d, do) }

// run takes every step up to a moment.
func (l *loop) run(until int64) {
	for len(l.steps) > 0 && l.steps[0].at <= until {
		s := heap.Pop(&l.steps).(step)
		l.now = s.at
		s.do()
	}
	l.now = until
}

type stepHeap []step

func (h stepHeap) Len() int      { return len(h) }
func (h stepHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(x any)   { *h = append(*h, x.(step)) }

func (h stepHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].count < h[j].count
}

func (h *stepHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
