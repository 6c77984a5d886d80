//go:build !race

package setting

const raced = 1
