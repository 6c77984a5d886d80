// Package reports lets you render results and the history behind them: a terminal summary, one self-contained HTML page, and
// JUnit XML. It computes nothing that a verdict depends on. A [Story] says what happened, as data, and every renderer shows it in
// its own way: Call [HTML], [Summary] or [JUnit] with the results of a run.
//
//	checker.Results, history.Record -> Tell -> Story -> terminal, page
package reports
