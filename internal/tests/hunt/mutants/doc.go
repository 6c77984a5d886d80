// Package mutants changes the judge in small ways and asks whether its tests and the hunt notice.
//
// gremlins, pinned in tools/gremlins.mod, lists every place of the judge's code and what can be changed
// there (List). Its dry run is deterministic but for the order, so the list is sorted; a seed draws from it
// (Draw). gremlins cannot run what shall notice: it runs the tests of the mutated package alone, and no
// hunt. So Locate finds the token of each place, and Judge.Try swaps it as gremlins does, in a copy that
// the compiler sees through -overlay: the working tree stays as it is. What survives must stand in
// equivalent.txt with the reason why it changes nothing (ReadEntries).
package mutants
