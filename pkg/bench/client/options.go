package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Options say where requests go and how.
type Options struct {
	// BaseURLs are the servers, used in turn; at least one, http or https. A path is
	// kept as a prefix; one that ends in /v1 is not doubled.
	BaseURLs []string
	API      API
	// Path replaces the API's own path.
	Path string
	// APIKey is sent as a bearer token; no header at all when empty.
	APIKey string
	// Headers are added to each request; they win over APIKey, and "Host" sets the host.
	Headers http.Header
	TLS     TLS
	// ProxyFromEnv obeys HTTP_PROXY and friends, which are ignored otherwise: traffic
	// inside a cluster must not take a detour.
	ProxyFromEnv bool
	// HTTP2 uses HTTP/2 where TLS offers it; stamps are then user-space.
	HTTP2 bool
	// MaxConns is how many connections may stay open to be used again; give the
	// concurrency cap. 0 means 1024.
	MaxConns int
	// Transport picks the HTTP implementation; see the constants.
	Transport Transport
	Timeouts  Timeouts
	Clock     *Clock
	// OnToken, when set, sees each token event of each stream, from many goroutines.
	OnToken TokenFunc
}

// Transport names an HTTP implementation.
type Transport string

// The transports. Auto is Lean where it can be (HTTP/1.1, no proxy), else Standard.
const (
	Auto     Transport = ""
	Lean     Transport = "lean"     // our own HTTP/1.1: one read per token event, a third of the memory
	Standard Transport = "standard" // net/http
)

// TLS are the settings for https servers.
type TLS struct {
	// CAFile replaces the system's roots; CertFile and KeyFile are a client certificate.
	CAFile, CertFile, KeyFile string
	// ServerName replaces the URL's host in the check of the server's certificate.
	ServerName string
	// Insecure accepts any certificate.
	Insecure bool
}

// Config is what crypto/tls makes of the settings; an error names the file that is wrong.
func (t TLS) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	c.InsecureSkipVerify = t.Insecure // asked for by name in the configuration
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca file %s: holds no PEM certificate", t.CAFile)
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, errors.New("a client certificate needs both its certificate file and its key file")
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s: %w", t.CertFile, err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}

// target is one server, ready to use.
type target struct {
	url  *url.URL
	host string // Host header
	addr string // host:port to dial
}

func (o Options) targets() ([]target, error) {
	if len(o.BaseURLs) == 0 {
		return nil, errors.New("no base URL: give at least one, such as http://127.0.0.1:8000")
	}
	path := o.Path
	if path == "" {
		path = o.API.path()
	}
	var ts []target
	for _, base := range o.BaseURLs {
		u, err := url.Parse(base)
		if err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("base URL %q: want http://host:port or https://host:port", u.Redacted())
		}
		if u.User != nil {
			return nil, fmt.Errorf("base URL %q: carries credentials; set an Authorization header instead", u.Redacted())
		}
		prefix := strings.TrimRight(u.Path, "/")
		if strings.HasPrefix(path, "/v1/") {
			prefix = strings.TrimSuffix(prefix, "/v1")
		}
		u.Path = prefix + path
		ts = append(ts, target{url: u, host: hostHeader(o.Headers, u), addr: address(u)})
	}
	return ts, nil
}

func hostHeader(h http.Header, u *url.URL) string {
	if v := h.Get("Host"); v != "" {
		return v
	}
	return u.Host
}

func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return u.Host + ":443"
	}
	return u.Host + ":80"
}
