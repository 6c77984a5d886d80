package workloads

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/register"
)

const paramReaders = "readers"

func rwlockSpec() Spec {
	return Spec{
		Name: "rwlock", Doc: "readers read a counter, wait, and read the counter again; writers read the counter, wait, and write " +
			"the counter plus one",
		Registers: SideBySide, Fenced: true, Models: []string{history.ModelReadWrite},
		Params: append(Params(), Param{Name: paramReaders, Default: "0.7", Doc: "fraction (0 to 1) of the critical sections in which " +
			"the client only reads the data"}),
		Check: func(s Settings) error {
			_, err := s.Values.Fraction(paramReaders)
			return err
		},
		New: func(s Settings) Workload {
			part, _ := s.Values.Fraction(paramReaders) // was checked
			return &rwlock{counter{s}, part}
		},
	}
}

// rwlock is readers beside writers. What a reader reads must not change while it holds the lock:
// the judge sees it in the log of the register.
//
//	reader  acquire shared   read ...hold... read     release
//	writer  acquire          read ...hold... write    release
//
// Readers leave the fenced register alone: it takes the newest token, and readers who hold the
// lock together have several.
type rwlock struct {
	counter
	readers float64
}

// Section is one of a reader or of a writer; a last one is both, one after the other.
func (w *rwlock) Section(ctx context.Context, c *Client, t Turn) (bool, error) {
	if t.Last || w.Rand.Float64() < w.readers {
		if granted, err := w.reader(ctx, c, t); !t.Last || !granted || err != nil {
			return granted, err
		}
	}
	return w.counter.Section(ctx, c, t)
}

func (w *rwlock) reader(ctx context.Context, c *Client, t Turn) (bool, error) {
	ask := Ask{Lock: w.Lock(t), Mode: history.ModeShared, Try: !t.Last && w.Rand.Float64() < w.Try}
	return w.section(ctx, c, ask, t, func(h *Hold) error { return w.look(ctx, c, h, t) })
}

func (w *rwlock) look(ctx context.Context, c *Client, h *Hold, t Turn) error {
	unfenced := slices.DeleteFunc(slices.Clone(c.Registers()), func(name string) bool { return name == register.Fenced })
	for i := range 2 {
		if !h.Valid() {
			return nil
		}
		h.Reach(ctx, []string{history.AtBeforeRead, history.AtBeforeWrite}[i])
		for _, reg := range unfenced {
			if _, _, err := h.Read(context.WithoutCancel(ctx), reg); err != nil {
				return err
			}
		}
		if i == 0 {
			w.Stay(ctx, t)
		}
	}
	return h.Work(ctx, nil, nil)
}
