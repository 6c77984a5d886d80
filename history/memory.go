package history

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
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

// slab is many of a kind in one piece. The kernel gives its pages all at once: else who fills it, and the garbage collector,
// which reads what nobody has written yet, meet at each page. That cost half of the time of reading. In huge pages, because
// events are read far from each other. A kernel before 5.14 cannot, and nothing else is lost by that.
func slab[T any](n int) []T {
	all := make([]T, n)
	page := uintptr(os.Getpagesize())
	begin := unsafe.Pointer(unsafe.SliceData(all)) //nolint:gosec // only its address is used
	skip := -uintptr(begin) & (page - 1)
	size := uintptr(n) * unsafe.Sizeof(*new(T))
	if size < skip+page {
		return all
	}
	pages := unsafe.Slice((*byte)(unsafe.Add(begin, skip)), (size-skip)&^(page-1)) //nolint:gosec // whole pages inside of it
	_ = unix.Madvise(pages, unix.MADV_HUGEPAGE)                                    // see above
	_ = unix.Madvise(pages, unix.MADV_POPULATE_WRITE)
	return all
}
