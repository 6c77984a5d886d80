package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/harness"
	"github.com/lockstorm/lockstorm/internal/pages/site"
)

const (
	serveAddr  = "127.0.0.1:8377"
	headerTime = 5 * time.Second
	closeTime  = 500 * time.Millisecond
)

func (a *App) serveCommand() *cobra.Command {
	addr := serveAddr
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "show the runs and suites of a directory in a browser",
		Long: `Serves a directory until interrupted: its runs and suites, also those in progress, with verdicts and reports. It
only reads, answers requests for its own address alone, and follows no link out of the directory.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), args[0], addr) },
	}
	cmd.Flags().StringVar(&addr, "addr", addr, "HOST:PORT to listen on; whoever reaches it can read the reports")
	return cmd
}

func (a *App) serve(ctx context.Context, dir, addr string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return harness.Usage(fmt.Errorf("%s is not a directory: name a directory with runs or suites",
			dir))
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return harness.Environment(fmt.Errorf("--addr %s: %w", addr, err))
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "localhost" // it is asked by its address
	}
	shown, err := site.Open(dir, site.Hosts(l.Addr(), machine))
	if err != nil {
		return harness.Usage(errors.Join(err, l.Close()))
	}
	defer shown.Close() //nolint:errcheck // it was only read
	s := &http.Server{Handler: shown, ReadHeaderTimeout: headerTime, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if s.Shutdown(closing) != nil {
			s.Close() //nolint:errcheck // it ends in any case
		}
	})
	defer stop()
	fmt.Fprintf(a.st.Stdout, "serving %s at http://%s/ (press Ctrl-C to stop)\n", dir, l.Addr())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return harness.Environment(err)
	}
	return nil
}
