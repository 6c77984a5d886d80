// Package shell writes words as a shell reads them.
package shell

import "strings"

// Quote makes one word of a text, whatever is in it; a plain one stays as it is.
func Quote(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Join is a command of words.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
