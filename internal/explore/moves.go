package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/nemesis"
)

// schedule is what a move changes: the configuration and the plan of a trial, whose faults stand side by side.
type schedule struct {
	cfg  harness.Config
	plan nemesis.Plan
}

// move is a way to a smaller schedule; its text says what it leaves out.
type move struct {
	text string
	to   schedule
}

func scheduleOf(t *harness.Trial) schedule { return schedule{t.Config, *t.Plan}.clone() }

func (s schedule) clone() schedule {
	s.cfg.Nemesis = slices.Clone(s.cfg.Nemesis)
	s.plan.Requests = slices.Clone(s.plan.Requests)
	for i := range s.plan.Requests {
		s.plan.Requests[i].Steps = slices.Clone(s.plan.Requests[i].Steps)
	}
	return s
}

// steps counts the injections that are planned.
func (s schedule) steps() (n int) {
	for _, q := range s.plan.Requests {
		n += len(q.Steps)
	}
	return n
}

// shortest is how long a run takes at least: its clients have to start.
const shortest = time.Second

// moves are the ways to smaller schedules, the greatest cut first; moves of equal text lead to equal schedules, but for what
// earlier ones have left out. at is when the violation was over in the last run that showed it.
func (s schedule) moves(at time.Duration) (out []move) {
	add := func(text string, change func(*schedule) bool) {
		next := s.clone()
		if change(&next) {
			out = append(out, move{text, next})
		}
	}
	if end := (at + s.cfg.TTL/2).Round(100 * time.Millisecond); at > 0 {
		add(fmt.Sprintf("end the run at %v, after the violation", max(end, shortest)), func(n *schedule) bool { return n.until(end) })
	}
	if s.steps() > 0 {
		add("no fault at all", func(n *schedule) bool {
			n.cfg.Nemesis, n.plan.Requests = []string{"none"}, []nemesis.Request{{Spec: "none", Fault: "none"}}
			return true
		})
	}
	if len(s.plan.Requests) > 1 {
		for i, q := range s.plan.Requests {
			add("only "+q.Spec, func(n *schedule) bool { return n.keep(func(k int) bool { return k == i }) })
		}
		for i, q := range s.plan.Requests {
			add("without "+q.Spec, func(n *schedule) bool { // of two it is the same as the other one alone
				return n.keep(func(k int) bool { return k != i }) && len(s.plan.Requests) > 2
			})
		}
	}
	for i, q := range s.plan.Requests {
		for k, st := range q.Steps {
			if len(q.Steps) > 2 {
				add("only "+called(q, st), func(n *schedule) bool {
					n.plan.Requests[i].Steps = n.plan.Requests[i].Steps[k : k+1]
					return true
				})
			}
		}
		for k, st := range q.Steps {
			if len(q.Steps) > 1 {
				add("without "+called(q, st), func(n *schedule) bool {
					n.plan.Requests[i].Steps = slices.Delete(n.plan.Requests[i].Steps, k, k+1)
					return true
				})
			}
		}
	}
	for _, c := range slices.Compact([]int{1, 2, 3, max(s.cfg.Clients-1, 3)}) {
		if c < s.cfg.Clients {
			add(fmt.Sprintf("clients: %d", c), func(n *schedule) bool { n.cfg.Clients = c; return true })
		}
	}
	if s.cfg.Locks > 1 {
		add("one lock", func(n *schedule) bool { n.cfg.Locks = 1; return true })
	}
	for _, part := range []time.Duration{2, 4} {
		end := (s.cfg.Time * (part - 1) / part).Round(100 * time.Millisecond)
		add(fmt.Sprintf("end the run at %v", max(end, shortest)), func(n *schedule) bool { return n.until(end) })
	}
	for i, q := range s.plan.Requests {
		for k, st := range q.Steps {
			half := (time.Duration(st.For) / 2).Round(time.Millisecond)
			if half > 50*time.Millisecond {
				add(fmt.Sprintf("%s for %v", called(q, st), half), func(n *schedule) bool {
					n.plan.Requests[i].Steps[k].For = half.Nanoseconds()
					return true
				})
			}
		}
	}
	return out
}

// besides is the parameter that ties a fault to another one, as it stands in the text of a fault.
var besides = regexp.MustCompile(`[:,]while=[0-9]+`)

// keep leaves out the other faults. What was to strike while one of them is active strikes at any time.
func (s *schedule) keep(kept func(i int) bool) bool {
	number := make([]int, len(s.plan.Requests)+1) // of each fault that is kept, from 1
	var names []string
	var requests []nemesis.Request
	for i, q := range s.plan.Requests {
		if kept(i) {
			names, requests = append(names, s.cfg.Nemesis[i]), append(requests, q)
			number[i+1] = len(requests)
		}
	}
	for i, q := range requests {
		for k := range q.Steps {
			q.Steps[k].While = number[q.Steps[k].While]
		}
		names[i] = retied(names[i], number)
		requests[i].Spec = names[i]
	}
	s.cfg.Nemesis, s.plan.Requests = names, requests
	return true
}

// retied is the text of a fault with the new number of the fault that it is tied to, or untied where that one is left out.
func retied(text string, number []int) string {
	text = besides.ReplaceAllStringFunc(text, func(param string) string {
		sign, old, _ := strings.Cut(param, "while=")
		if n, err := strconv.Atoi(old); err == nil && n < len(number) && number[n] > 0 {
			return fmt.Sprintf("%swhile=%d", sign, number[n])
		}
		return strings.TrimPrefix(sign, ",")
	})
	return strings.TrimSuffix(strings.Replace(text, ":,", ":", 1), ":")
}

// called is a step in words that stay the same when others are left out.
func called(q nemesis.Request, st nemesis.Step) string {
	return fmt.Sprintf("%s at %v", q.Spec, time.Duration(st.At).Round(time.Millisecond))
}

// until ends a schedule at a time, and leaves out what would begin later.
func (s *schedule) until(end time.Duration) bool {
	end = max(end.Round(100*time.Millisecond), shortest)
	if end >= s.cfg.Time {
		return false
	}
	s.cfg.Time, s.plan.Duration = end, end.Nanoseconds()
	for i := range s.plan.Requests {
		q := &s.plan.Requests[i]
		q.Steps = slices.DeleteFunc(q.Steps, func(st nemesis.Step) bool { return st.At >= end.Nanoseconds() })
		for k := range q.Steps {
			q.Steps[k].Until = min(q.Steps[k].Until, end.Nanoseconds())
		}
	}
	return true
}
