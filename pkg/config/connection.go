package config

import "time"

// Connection is the connection block: how the server is reached.
type Connection struct {
	CAFile            string        `hcl:"ca_file,optional" doc:"Certificates to trust instead of the system's, PEM."`
	CertFile          string        `hcl:"cert_file,optional" doc:"Client certificate, PEM."`
	KeyFile           string        `hcl:"key_file,optional" doc:"Key of the client certificate, PEM."`
	ServerName        string        `hcl:"server_name,optional" doc:"Name in the server's certificate, when it is not the address's."`
	Insecure          bool          `hcl:"insecure,optional" doc:"Accept any certificate." default:"false"`
	HTTP2             bool          `hcl:"http2,optional" doc:"Use HTTP/2 where TLS offers it; there are no kernel time stamps then." default:"false"`
	ProxyFromEnv      bool          `hcl:"proxy_from_env,optional" doc:"Obey HTTP_PROXY and friends; they are ignored otherwise." default:"false"`
	ConnectTimeout    time.Duration `hcl:"connect_timeout,optional" doc:"Limit of connecting, TLS included." default:"30s"`
	FirstTokenTimeout time.Duration `hcl:"first_token_timeout,optional" doc:"Limit of waiting for the first token; 0 is none." default:"30m"`
	IdleTimeout       time.Duration `hcl:"idle_timeout,optional" doc:"Limit of silence between tokens; 0 is none." default:"5m"`
	RequestTimeout    time.Duration `hcl:"request_timeout,optional" doc:"Limit of a whole request; 0 is none." default:"6h"`
}

// checkConnection holds the attributes against each other.
func checkConnection(c *Connection, fail func(path, summary, format string, args ...any)) {
	if c != nil && (c.CertFile == "") != (c.KeyFile == "") {
		fail("connection", "Half a client certificate", "A client certificate needs both cert_file and key_file.")
	}
}
