package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is short: a cluster is thrown away within hours.
const certificateLife = 30 * 24 * time.Hour

// PKI is the certificate authority of one cluster and the folder where its files lie (mode 0700, files 0600).
type PKI struct {
	dir string
	ca  *x509.Certificate
	key *ecdsa.PrivateKey
}

// Identity is what a certificate says about its holder. It serves as client and as server certificate.
type Identity struct {
	File   string   // name of the .crt and .key files
	Name   string   // common name: the user, to the API server
	Groups []string // organisations: the user's groups
	IPs    []string
	DNS    []string
}

// NewPKI creates the folder, the authority (ca.crt) and the key that signs service account tokens (sa.key).
func NewPKI(dir string) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	p := &PKI{dir: dir, key: key}
	t := certificate(pkix.Name{CommonName: "localcluster-ca"})
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	if err := p.write("ca.crt", "CERTIFICATE", der); err != nil {
		return nil, err
	}
	// The API server signs service account tokens with RSA or ECDSA; RSA keeps the usual RS256 tokens.
	sa, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	return p, p.write("sa.key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(sa))
}

func certificate(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// Path returns the full name of a file of the PKI.
func (p *PKI) Path(file string) string { return filepath.Join(p.dir, file) }

// CA returns the authority's certificate as PEM.
func (p *PKI) CA() ([]byte, error) { return os.ReadFile(p.Path("ca.crt")) }

// Pool returns a pool with the authority alone.
func (p *PKI) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.ca)
	return pool
}

// Issue writes a certificate and its key for an identity.
func (p *PKI) Issue(id Identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", id.File, err)
	}
	t := certificate(pkix.Name{CommonName: id.Name, Organization: id.Groups})
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	t.DNSNames = id.DNS
	for _, ip := range id.IPs {
		t.IPAddresses = append(t.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificate(rand.Reader, t, p.ca, key.Public(), p.key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", id.File, err)
	}
	kb, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", id.File, err)
	}
	if err := p.write(id.File+".crt", "CERTIFICATE", der); err != nil {
		return err
	}
	return p.write(id.File+".key", "EC PRIVATE KEY", kb)
}

func (p *PKI) write(file, kind string, der []byte) error {
	return os.WriteFile(p.Path(file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
