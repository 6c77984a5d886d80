package history

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// memoryAvailable is how much memory can be had now without swapping, in bytes, as the
// kernel says.
func memoryAvailable() (int64, bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close() //nolint:errcheck // read only
	for sc := bufio.NewScanner(f); sc.Scan(); {
		text, ok := strings.CutPrefix(sc.Text(), "MemAvailable:")
		if !ok {
			continue
		}
		var kb int64
		if _, err := fmt.Sscan(text, &kb); err != nil {
			return 0, false
		}
		return kb << 10, true
	}
	return 0, false
}
