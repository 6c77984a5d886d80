//go:build race

package setting

const race = true
