package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

func TestIssuedCertificateIsTrustedForItsNames(t *testing.T) {
	p, err := NewPKI(filepath.Join(t.TempDir(), "pki"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Issue(Identity{File: "x", Name: "user", Groups: []string{"g"}, IPs: []string{"127.77.0.1"}, DNS: []string{"kubernetes.default.svc"}}); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(p.Path("x.crt"), p.Path("x.key"))
	if err != nil {
		t.Fatal(err)
	}
	crt, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.77.0.1", "kubernetes.default.svc"} {
		if _, err := crt.Verify(x509.VerifyOptions{Roots: p.Pool(), DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if crt.Subject.CommonName != "user" || crt.Subject.Organization[0] != "g" {
		t.Errorf("subject %v", crt.Subject)
	}
	if st, err := os.Stat(p.Path("x.key")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", st, err)
	}
}

func TestKubeconfigNeedsNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	p, err := NewPKI(filepath.Join(dir, "pki"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Issue(Identity{File: "admin", Name: "admin"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "kubeconfig")
	if err := p.writeKubeconfig(file, "ctx", "https://127.77.0.1:6443", "admin"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "pki")); err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil || cfg.Host != "https://127.77.0.1:6443" || len(cfg.CertData) == 0 || len(cfg.KeyData) == 0 {
		t.Errorf("got %v, %v", cfg, err)
	}
}
