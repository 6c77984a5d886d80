package checker

import "github.com/lockstorm/lockstorm/catalog"

// Default is the catalogue of all checks, in the order in which they are reported.
func Default() *Catalogue {
	return catalog.New("check",
		Check{Name: Assumptions, Doc: "is the record itself sound?", Slow: true, Gates: Always, Run: assumptions},
		Check{Name: Coverage, Doc: "did the faults hit anything?", Gates: Always, Run: coverage},
		Check{Name: MutualExclusion, Doc: "did two clients believe that they held the lock at once?", Gates: Always, Applies: isLock, Run: mutualExclusion},
		Check{Name: LockLinearizability, Doc: "did the lock object behave as a lock?", Slow: true, Gates: Always, Applies: isLock, Run: linearizability},
		Check{Name: DataPlain, Doc: "was the data without a fence damaged?", Gates: withoutFence, Applies: usesPlain, Run: dataPlain},
		Check{Name: DataFenced, Doc: "was the data behind the fence damaged?", Gates: withFence, Applies: usesFenced, Run: dataFenced},
		Check{Name: FencingTokens, Doc: "are the tokens a fence: unique, growing, never refused when valid?", Gates: withFence, Applies: hasTokens, Run: fencingTokens},
		Check{Name: LossNotice, Doc: "was a holder told that it lost the lock, and how late? (reported; it gates where it is required)", Applies: hasLeases, Run: lossNotice},
		Check{Name: Ownership, Doc: "can only the owner release?", Gates: Always, Run: ownership},
		Check{Name: Liveness, Doc: "does it come back: can every client acquire again in time?", Gates: Always, Run: liveness},
		Check{Name: Fairness, Doc: "who is next: how often was a client that waited overtaken by one that asked later? (reported; it gates where it is required)", Applies: waitsForGrants, Run: fairness},
		Check{Name: Cost, Doc: "what did a hand-off cost, in requests and notices? (reported)", Applies: wasCounted, Run: cost},
		Check{Name: Deadlock, Doc: "how did clients that waited for each other get out of it? (reported; liveness judges those that never do)", Applies: takesTwo, Run: deadlock},
		Check{Name: Bounded, Doc: "was every try answered within its bound?", Gates: statesBounds, Applies: boundsTries, Run: bounded},
		Check{Name: Stock, Doc: "are a stock and its ledger whole, where values come back?", Gates: keepsStock, Applies: hasStock, Run: stock},
		Check{Name: Once, Doc: "was the job of each period done once?", Gates: doesJobs, Applies: hasJobs, Run: once},
	)
}
