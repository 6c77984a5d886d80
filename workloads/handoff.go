package workloads

func handoffSpec() Spec {
	return Spec{
		Name: "handoff", Doc: "all clients wait for one lock all the time, and hold it only for a moment; this workload measures the " +
			"cost of a hand-off and the order of grants (use --clients 10 to 100); the workload uses no data",
		Params: []Param{
			{Name: "hold", Default: "5ms", Doc: "longest time that a client stays in its critical section"},
			{Name: "think", Default: "0s", Doc: "longest pause between two critical sections of a client"},
		},
		Counted: true,
		New:     func(s Settings) Workload { return &mutex{s} },
	}
}
