package external

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/cluster"
)

// The environment by which servers are entered. None of it is passed on to a child.
const (
	envUser         = "LOCKSTORM_USER"
	envPassword     = "LOCKSTORM_PASSWORD"
	envPasswordFile = "LOCKSTORM_PASSWORD_FILE"
	envTLS          = "LOCKSTORM_TLS"
	envCA           = "LOCKSTORM_TLS_CA"
	envCert         = "LOCKSTORM_TLS_CERT"
	envKey          = "LOCKSTORM_TLS_KEY"
	envServerName   = "LOCKSTORM_TLS_SERVER_NAME"
)

// Env are the names of the environment by which servers are entered.
func Env() []string {
	return []string{envUser, envPassword, envPasswordFile, envTLS, envCA, envCert, envKey, envServerName}
}

// Without is an environment without those.
func Without(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(Env(), name)
	})
}

// Access is how servers are entered.
type Access struct {
	User, Password string
	TLS            *tls.Config // nil: in the clear
}

// FromEnv reads the access of the environment; the zero value where nothing is said.
func FromEnv() (Access, error) {
	a := Access{User: os.Getenv(envUser), Password: os.Getenv(envPassword)}
	if file := os.Getenv(envPasswordFile); file != "" {
		if a.Password != "" {
			return a, fmt.Errorf("both environment variables %s and %s are set: set only one of them", envPassword, envPasswordFile)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return a, fmt.Errorf("%s: %w", envPasswordFile, err)
		}
		a.Password = strings.TrimRight(string(text), "\r\n")
	}
	if a.User != "" && a.Password == "" {
		return a, fmt.Errorf("the environment variable %s contains a user name, but no password is set: set %s or %s", envUser,
			envPassword, envPasswordFile)
	}
	err := a.readTLS()
	return a, err
}

func (a *Access) readTLS() error {
	wanted := cmp.Or(os.Getenv(envCA), os.Getenv(envCert), os.Getenv(envKey), os.Getenv(envServerName)) != ""
	switch said := os.Getenv(envTLS); {
	case said == "yes":
	case said == "" && !wanted:
		return nil
	case said == "no" && wanted:
		return fmt.Errorf("%s=no turns TLS off, but a variable %s_... with TLS settings is also set: unset one of them", envTLS, envTLS)
	case said == "no":
		return nil
	case said != "":
		return fmt.Errorf("%s=%s: choose yes or no", envTLS, said)
	}
	a.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: os.Getenv(envServerName)}
	if file := os.Getenv(envCA); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", envCA, err)
		}
		a.TLS.RootCAs = x509.NewCertPool()
		if !a.TLS.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s: %s contains no PEM certificate", envCA, file)
		}
	}
	cert, key := os.Getenv(envCert), os.Getenv(envKey)
	if (cert == "") != (key == "") {
		return fmt.Errorf("only one of the environment variables %s and %s is set: set both", envCert, envKey)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", envCert, envKey, err)
		}
		a.TLS.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// needed reports whether connections have to be opened by us.
func (a Access) needed() bool { return a.TLS != nil || a.Password != "" }

// enter is a connection that the server takes requests on.
func (a Access) enter(ctx context.Context, r cluster.Recipe, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	opened, err := a.open(ctx, r, addr, c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return opened, nil
}

func (a Access) open(ctx context.Context, r cluster.Recipe, addr string, c net.Conn) (net.Conn, error) {
	if a.TLS != nil {
		cfg := a.TLS.Clone()
		cfg.NextProtos = r.Protocols
		if cfg.ServerName == "" {
			host, _, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			cfg.ServerName = host
		}
		t := tls.Client(c, cfg)
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		c = t
	}
	if a.Password == "" || r.Login == nil {
		return c, nil
	}
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if err := r.Login(c, a.User, a.Password); err != nil {
		return nil, fmt.Errorf("cannot log in to the server: %w", err)
	}
	return c, c.SetDeadline(time.Time{})
}
