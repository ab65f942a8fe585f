package cli

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/mifbench/mifbench/pkg/bench/client"
	"github.com/mifbench/mifbench/pkg/config"
)

// clientOptions say how a scenario's requests travel.
func clientOptions(s config.Scenario, base string) client.Options {
	headers := http.Header{}
	for k, v := range s.Headers {
		headers.Set(k, v)
	}
	o := client.Options{
		BaseURLs: []string{base}, API: client.API(s.API), APIKey: s.APIKey, Headers: headers, Timeouts: client.DefaultTimeouts(),
	}
	if c := s.Connection; c != nil {
		o.TLS = client.TLS{CAFile: c.CAFile, CertFile: c.CertFile, KeyFile: c.KeyFile, ServerName: c.ServerName, Insecure: c.Insecure}
		o.HTTP2, o.ProxyFromEnv = c.HTTP2, c.ProxyFromEnv
		o.Timeouts = client.Timeouts{Dial: c.ConnectTimeout, FirstByte: c.FirstTokenTimeout, Idle: c.IdleTimeout, Total: c.RequestTimeout}
	}
	return o
}

// sideClient is a client for the questions beside a scenario's load.
func (a *app) sideClient(s config.Scenario, base string) (*http.Client, error) {
	o := clientOptions(s, base)
	conf, err := o.TLS.Config()
	if err != nil {
		return nil, err
	}
	return sideClient(o, conf), nil
}

// sideClient asks questions beside the load, such as how many tokens a text has, with the
// load's credentials and on its way.
func sideClient(o client.Options, conf *tls.Config) *http.Client {
	next := &http.Transport{TLSClientConfig: conf, MaxIdleConnsPerHost: cutters}
	if o.ProxyFromEnv {
		next.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{Timeout: 30 * time.Second, Transport: &withHeaders{next: next, header: o.Headers, key: o.APIKey}}
}

type withHeaders struct {
	next   http.RoundTripper
	header http.Header
	key    string
}

// RoundTrip adds the headers to a copy of the request.
func (t *withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if t.key != "" {
		r.Header.Set("Authorization", "Bearer "+t.key)
	}
	for k, v := range t.header {
		r.Header[k] = v
	}
	return t.next.RoundTrip(r)
}
