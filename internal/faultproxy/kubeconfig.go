package faultproxy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"

	"sigs.k8s.io/yaml"
)

// target is the real API server and how to be let in.
type target struct {
	server  *url.URL
	context string
	tls     *tls.Config
}

// kubeconfig is the part of the file that an administrator's client certificate needs. JSON names
// are those of Kubernetes' own format.
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Clusters       []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
			CA     string `json:"certificate-authority-data"`
			CAFile string `json:"certificate-authority"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			Cert     string `json:"client-certificate-data"`
			Key      string `json:"client-key-data"`
			CertFile string `json:"client-certificate"`
			KeyFile  string `json:"client-key"`
		} `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
}

func readKubeconfig(path string) (target, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return target{}, err
	}
	var k kubeconfig
	if err := yaml.Unmarshal(text, &k); err != nil {
		return target{}, fmt.Errorf("%s: %w", path, err)
	}
	t := target{context: k.CurrentContext, tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}}
	var cluster, user string
	for _, c := range k.Contexts {
		if c.Name == k.CurrentContext {
			cluster, user = c.Context.Cluster, c.Context.User
		}
	}
	for _, c := range k.Clusters {
		if c.Name != cluster {
			continue
		}
		if t.server, err = url.Parse(c.Cluster.Server); err != nil {
			return target{}, fmt.Errorf("%s: %w", path, err)
		}
		ca, err := inlineOrFile(c.Cluster.CA, c.Cluster.CAFile)
		if err != nil {
			return target{}, fmt.Errorf("%s: %w", path, err)
		}
		t.tls.RootCAs.AppendCertsFromPEM(ca)
	}
	for _, u := range k.Users {
		if u.Name != user {
			continue
		}
		cert, err := inlineOrFile(u.User.Cert, u.User.CertFile)
		if err != nil {
			return target{}, fmt.Errorf("%s: %w", path, err)
		}
		key, err := inlineOrFile(u.User.Key, u.User.KeyFile)
		if err != nil {
			return target{}, fmt.Errorf("%s: %w", path, err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return target{}, fmt.Errorf("%s: %w", path, err)
		}
		t.tls.Certificates = []tls.Certificate{pair}
	}
	if t.server == nil || len(t.tls.Certificates) == 0 {
		return target{}, fmt.Errorf("%s: its current context has no server or no client certificate", path)
	}
	return t, nil
}

func inlineOrFile(inline, file string) ([]byte, error) {
	if inline != "" {
		return base64.StdEncoding.DecodeString(inline)
	}
	return os.ReadFile(file)
}
