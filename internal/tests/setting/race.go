//go:build race

package setting

// raced is how many times fewer random records there are with the race detector: it makes the judge, which shares
// nothing between records, fifteen times slower and finds nothing more in the next thousand. make judge has all of them.
const raced = 10
