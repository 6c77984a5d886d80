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
		Short: "show the reports of a directory in a browser",
		Long: `Serves the files of a run, of a suite, or of a folder of them, over HTTP until it is interrupted:
for machines whose files a browser cannot open. It only reads.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), args[0], addr) },
	}
	cmd.Flags().StringVar(&addr, "addr", addr, "where to listen; of another host's addresses everybody there can read the reports")
	return cmd
}

func (a *App) serve(ctx context.Context, dir, addr string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &harness.Error{Code: harness.ExitUsage, Err: fmt.Errorf("%s is no directory", dir)}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return &harness.Error{Code: harness.ExitEnvironment, Err: fmt.Errorf("--addr %s: %w", addr, err)}
	}
	s := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: headerTime}
	stop := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if s.Shutdown(closing) != nil {
			s.Close() //nolint:errcheck // it ends in any case
		}
	})
	defer stop()
	fmt.Fprintf(a.st.Stdout, "%s at http://%s/, until Ctrl-C\n", dir, l.Addr())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return &harness.Error{Code: harness.ExitEnvironment, Err: err}
	}
	return nil
}
