package disk

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// twin is a disk as simple as it can be: whole contents, and a list of what is to be done to what is durable.
type twin struct {
	live, durable state
	journal       []func()
	done          int
	changed       map[int]int // the last entry of the journal about a file or folder
	dirty         map[int]bool
	emptied       map[int]bool
	last          int
}

// state is contents of files, and names in folders, by numbers; folder 0 is the root.
type state struct {
	files   map[int][]byte
	folders map[int]map[string]int
}

func newTwin() *twin {
	empty := func() state { return state{map[int][]byte{}, map[int]map[string]int{0: {}}} }
	return &twin{
		live: empty(), durable: empty(), changed: map[int]int{}, dirty: map[int]bool{}, emptied: map[int]bool{},
	}
}

// note is both: it happens at once to what programs see, and with the next commit to what is durable.
func (w *twin) note(apply func(s *state), about ...int) {
	apply(&w.live)
	w.journal = append(w.journal, func() { apply(&w.durable) })
	for _, id := range about {
		w.changed[id] = len(w.journal)
	}
}

func (w *twin) commit() {
	for _, apply := range w.journal[w.done:] {
		apply()
		w.done++
	}
}

// whole is what makes a file's data durable with the entry that is noted next, if the file does not change after it.
func (w *twin) whole(id int) func() {
	at := len(w.journal) + 1
	return func() {
		if w.changed[id] == at {
			w.flush(id)
		}
	}
}

func (w *twin) flush(id int) {
	w.durable.files[id] = bytes.Clone(w.live.files[id])
	w.dirty[id], w.emptied[id] = false, false
}

func (w *twin) sync(id int, data bool) {
	if w.changed[id] > w.done || len(w.live.files[id]) != len(w.durable.files[id]) || (!data && w.dirty[id]) {
		w.commit()
	}
	if _, file := w.live.files[id]; file {
		w.flush(id)
	}
}

func (w *twin) truncate(id, size int) {
	if len(w.live.files[id]) == size {
		return
	}
	w.emptied[id] = w.emptied[id] || size == 0
	w.note(func(s *state) {
		b := make([]byte, size)
		copy(b, s.files[id])
		s.files[id] = b
	}, id)
	w.dirty[id] = w.dirty[id] && size > 0
}

func (w *twin) write(id, off int, data []byte) {
	b := w.live.files[id]
	b = append(bytes.Clone(b), make([]byte, max(0, off+len(data)-len(b)))...)
	copy(b[off:], data)
	w.live.files[id], w.dirty[id] = b, true
}

// closed is after a program has closed a file.
func (w *twin) closed(id int) {
	if w.emptied[id] && w.dirty[id] {
		w.emptied[id] = false
		whole := w.whole(id)
		w.journal = append(w.journal, whole)
		w.changed[id] = len(w.journal)
	}
}

func (w *twin) rename(from int, old string, to int, name string) {
	id := w.live.folders[from][old]
	whole := func() {}
	about := []int{id, from, to}
	if there, replaced := w.live.folders[to][name]; replaced {
		if there == id {
			return
		}
		whole, about = w.whole(id), append(about, there)
	}
	first := true
	w.note(func(s *state) {
		if !first { // of what is durable
			whole()
		}
		first = false
		delete(s.folders[from], old)
		s.folders[to][name] = id
	}, about...)
}

// tree is what [tree] says of a folder.
func (s *state) tree() map[string]string {
	out := map[string]string{}
	var walk func(folder int, above string)
	walk = func(folder int, above string) {
		for name, id := range s.folders[folder] {
			if _, is := s.folders[id]; is {
				out[above+name+"/"] = ""
				walk(id, above+name+"/")
				continue
			}
			out[above+name] = string(s.files[id])
		}
	}
	walk(0, "")
	return out
}

// storm does the same random things to a disk and to its twin.
type storm struct {
	*twin
	rnd  *rand.Rand
	root string
}

// pick chooses a name in a folder of some that are: a file's, or a folder's; false: there is none.
func (s *storm) pick(folders bool) (folder int, name string, id int, path string, ok bool) {
	folder, path = s.folder()
	for _, name := range slices.Sorted(maps.Keys(s.live.folders[folder])) {
		id := s.live.folders[folder][name]
		if _, is := s.live.folders[id]; is == folders && s.rnd.IntN(2) == 0 {
			return folder, name, id, filepath.Join(path, name), true
		}
	}
	return 0, "", 0, "", false
}

// folder walks down to a folder.
func (s *storm) folder() (id int, path string) {
	path = s.root
	for s.rnd.IntN(2) == 0 {
		var below []string
		for _, name := range slices.Sorted(maps.Keys(s.live.folders[id])) {
			if _, is := s.live.folders[s.live.folders[id][name]]; is {
				below = append(below, name)
			}
		}
		if len(below) == 0 {
			break
		}
		name := below[s.rnd.IntN(len(below))]
		id, path = s.live.folders[id][name], filepath.Join(path, name)
	}
	return id, path
}

func (s *storm) name() string { return string(rune('a' + s.rnd.IntN(6))) }

// step does one thing.
func (s *storm) step() error {
	switch s.rnd.IntN(12) {
	case 0, 1:
		return s.make()
	case 2:
		return s.makeFolder()
	case 3:
		return s.remove()
	case 4, 5:
		return s.move()
	case 6:
		_, _, id, path, ok := s.pick(false)
		if !ok {
			return nil
		}
		size := s.rnd.IntN(3 * page)
		s.truncate(id, size)
		return os.Truncate(path, int64(size))
	case 7:
		return s.syncFolder()
	}
	return s.use()
}

func (s *storm) make() error {
	folder, path := s.folder()
	name := s.name()
	if _, there := s.live.folders[folder][name]; there {
		return nil
	}
	s.last++
	id := s.last
	s.note(func(st *state) { st.files[id], st.folders[folder][name] = nil, id }, id, folder)
	f, err := os.OpenFile(filepath.Join(path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (s *storm) makeFolder() error {
	folder, path := s.folder()
	name := s.name()
	if _, there := s.live.folders[folder][name]; there {
		return nil
	}
	s.last++
	id := s.last
	s.note(func(st *state) { st.folders[id], st.folders[folder][name] = map[string]int{}, id }, id, folder)
	return os.Mkdir(filepath.Join(path, name), 0o700)
}

func (s *storm) remove() error {
	folder, name, id, path, ok := s.pick(s.rnd.IntN(4) == 0)
	if !ok || len(s.live.folders[id]) > 0 {
		return nil
	}
	s.note(func(st *state) { delete(st.folders[folder], name) }, id, folder)
	return os.Remove(path)
}

func (s *storm) move() error {
	from, old, id, path, ok := s.pick(false)
	if !ok {
		return nil
	}
	to, into := s.folder()
	name := s.name()
	if there, is := s.live.folders[to][name]; is {
		if _, folder := s.live.folders[there]; folder || there == id {
			return nil
		}
	}
	s.rename(from, old, to, name)
	return os.Rename(path, filepath.Join(into, name))
}

func (s *storm) syncFolder() error {
	folder, path := s.folder()
	s.sync(folder, true)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return firstOf(f.Sync(), f.Close())
}

// use opens a file, writes to it and syncs it, or not.
func (s *storm) use() error {
	_, _, id, path, ok := s.pick(false)
	if !ok {
		return nil
	}
	flags := os.O_RDWR
	switch s.rnd.IntN(8) {
	case 0:
		flags |= os.O_TRUNC
		s.truncate(id, 0)
	case 1:
		flags |= syscall.O_DSYNC
	case 2:
		flags |= syscall.O_SYNC
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return err
	}
	for range s.rnd.IntN(3) {
		data := bytes.Repeat([]byte{byte('A' + s.rnd.IntN(26))}, 1+s.rnd.IntN(2*page))
		off := s.rnd.IntN(len(s.live.files[id]) + 1)
		if inside := len(s.live.files[id]) - off; inside > 0 && s.rnd.IntN(2) == 0 {
			data = data[:min(len(data), inside)]
		}
		s.write(id, off, data)
		if flags&syscall.O_DSYNC != 0 {
			s.sync(id, flags&syscall.O_SYNC != syscall.O_SYNC)
		}
		if _, err := f.WriteAt(data, int64(off)); err != nil {
			return firstOf(err, f.Close())
		}
	}
	switch s.rnd.IntN(4) {
	case 0:
		s.sync(id, false)
		err = f.Sync()
	case 1:
		s.sync(id, true)
		err = syscall.Fdatasync(int(f.Fd()))
	}
	s.closed(id)
	return firstOf(err, f.Close())
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
