// Package search looks for schedules that break a lock: which faults, at which moments, with which workload. It learns from what
// it saw which schedules lead to behaviour not seen before.
//
//	catalogue + configuration -> Space: what can be varied
//	Space -> fresh or changed Genome -> run -> record -> Behaviour: what was new, and how near to a violation it came
//	new behaviour -> corpus: parents of later genomes
//	violation -> kept with its trial, told apart by rule, class, kind of cause and the shape of its proof
package search
