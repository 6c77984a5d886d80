package election

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/adapters/go/lockstorm"
)

const (
	apiServerName = "kube-apiserver" // of nodes and of the program
	tokenFile     = "token"          // of clients
	keyFile       = "key.pem"        // of service accounts, of which there are none
	certFile      = "certs/apiserver.crt"
)

// findAPIServer is the program: the one that KUBE_APISERVER names, the one on PATH, or else one that is built here, once.
func findAPIServer() (string, error) {
	if path := os.Getenv("KUBE_APISERVER"); path != "" {
		path, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("the environment variable KUBE_APISERVER names no program: %w", err)
		}
		return path, nil
	}
	if path, err := exec.LookPath(apiServerName); err == nil {
		return path, nil
	}
	if path, err := launch("--find"); err == nil {
		return path, nil
	}
	if _, err := launch("--build"); err != nil {
		return "", fmt.Errorf("kube-apiserver could not be built (or name one that you have: KUBE_APISERVER=PATH): %w", err)
	}
	return launch("--find")
}

// launch has the launcher of adapters find kube-apiserver, or build it: it then tells lockstorm itself how far it is.
func launch(what string) (string, error) {
	cmd := exec.Command(os.Getenv("LAUNCH"), what, "kubeapiserver")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(set string) bool { // which are about the libraries of this adapter
		return strings.HasPrefix(set, "RELEASE=") || strings.HasPrefix(set, "MODFILE=")
	})
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return string(bytes.TrimSpace(out)), err
}

// apiServer describes one of the API servers, over so many servers of etcd.
func (a *adapter) apiServer(number, etcds int) lockstorm.Fields {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	command := []string{self, "serve", a.server, "{port}"}
	for i := range etcds {
		command = append(command, fmt.Sprintf("http://{address:etcd-%d}", i+1))
	}
	name := fmt.Sprintf("%s-%d", apiServerName, number)
	return lockstorm.Fields{
		"name": name, "command": command, "keeps": true, "version": []string{"serve", a.server, "--version"},
		"ready": lockstorm.Fields{"command": []string{self, "serve", "ready", "{dir}", "{port}"}},
	}
}

// serve becomes the API server, in its folder; or does what else is asked of its program. It returns only with an error.
func serve(words []string) error {
	if len(words) == 2 && words[1] == "--version" {
		return syscall.Exec(words[0], words, os.Environ())
	}
	if len(words) == 3 && words[0] == "ready" {
		return ready(words[1], words[2])
	}
	if len(words) < 3 {
		return errors.New("lockstorm starts this program; its words are: serve PROGRAM PORT ETCD...")
	}
	if err := secrets(); err != nil {
		return err
	}
	args := []string{
		words[0], "--secure-port=" + words[1], "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--etcd-servers=" + strings.Join(words[2:], ","), "--cert-dir=certs", "--token-auth-file=" + tokenFile,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile, "--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=AlwaysAllow", "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
	}
	return syscall.Exec(words[0], args, os.Environ())
}

// secrets makes what clients of this run need, unless an earlier start has made it.
func secrets() error {
	if _, err := os.Stat(tokenFile); err == nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return errors.Join(
		os.WriteFile(keyFile, text, 0o600),
		os.WriteFile(tokenFile, []byte(rand.Text()+`,lockstorm,1,"system:masters"`+"\n"), 0o600))
}

// ready ends with 0 once the API server in a folder says that it serves.
func ready(dir, port string) error {
	token, err := os.ReadFile(filepath.Join(dir, tokenFile))
	if err != nil {
		return err
	}
	cert, err := os.ReadFile(filepath.Join(dir, certFile))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	secret, _, _ := strings.Cut(string(token), ",")
	req, err := http.NewRequest(http.MethodGet, "https://127.0.0.1:"+port+"/readyz", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}, Timeout: 5 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body) // what it does not say is missing
		return fmt.Errorf("/readyz: %s: %s", resp.Status, text)
	}
	os.Exit(0)
	return nil
}
