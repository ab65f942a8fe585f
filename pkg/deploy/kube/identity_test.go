package kube

import (
	"encoding/pem"
	"testing"
)

func TestDigestCA(t *testing.T) {
	cert := func(text string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(text)}))
	}
	one, err := digestCA(cert("a") + cert("b"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		same bool
	}{
		"order and comments": {"# the new one\n" + cert("b") + "\n# the old one\r\n" + cert("a"), true},
		"twice":              {cert("a") + cert("b") + cert("a"), true},
		"one less":           {cert("a"), false},
		"another":            {cert("a") + cert("c"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if other, err := digestCA(c.text); err != nil || (other == one) != c.same {
				t.Errorf("%s and %s, %v", one, other, err)
			}
		})
	}
	for _, text := range []string{"", "nothing", "-----BEGIN CERTIFICATE-----\n", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("a")}))} {
		if got, err := digestCA(text); err == nil {
			t.Errorf("%q has a digest: %s", text, got)
		}
	}
}
