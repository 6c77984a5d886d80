package lists_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/lockstorm/lockstorm/internal/lists"
)

func TestLists(t *testing.T) {
	t.Parallel()
	all := []int{3, 1, 2}
	if got := lists.Map(all, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Errorf("Map: %v", got)
	}
	if lists.Map([]int{}, strconv.Itoa) != nil {
		t.Error("Map of nothing is not nil: JSON would say []")
	}
	small := lists.Filter(all, func(n int) bool { return n < 3 })
	if small[0] = 9; !slices.Equal(small, []int{9, 2}) || !slices.Equal(all, []int{3, 1, 2}) {
		t.Errorf("Filter: %v of %v", small, all)
	}
	if lists.Filter(all, func(int) bool { return false }) != nil {
		t.Error("Filter of nothing is not nil")
	}
	if n, ok := lists.Find(all, func(n int) bool { return n < 3 }); n != 1 || !ok {
		t.Errorf("Find: %d, %t", n, ok)
	}
	if n, ok := lists.Find(all, func(n int) bool { return n > 3 }); n != 0 || ok {
		t.Errorf("Find of nothing: %d, %t", n, ok)
	}
	if got := lists.With(lists.With(all, 1), 4); !slices.Equal(got, []int{3, 1, 2, 4}) {
		t.Errorf("With: %v", got)
	}
	if lists.First(true, false) >= 0 || lists.First(false, true) <= 0 || lists.First(true, true) != 0 ||
		lists.First(false, false) != 0 {
		t.Error("First does not put what has something first")
	}
}
