package address

import (
	"net"
	"testing"
)

func TestTwin(t *testing.T) {
	for in, want := range map[string]string{
		"10.77.1.1": "127.77.1.1", "127.77.0.10": "127.77.0.10", "110.1.1.1": "110.1.1.1", "": "",
	} {
		if got := Twin(in); got != want {
			t.Errorf("Twin(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPodAddressesAreDistinctAndOutsideServiceRange(t *testing.T) {
	_, services, err := net.ParseCIDR(Block(77).ServiceCIDR())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range 20000 {
		ip := Block(77).Pod(i)
		if net.ParseIP(ip) == nil || seen[ip] || services.Contains(net.ParseIP(ip)) {
			t.Fatalf("pod %d has address %s: not valid, used twice, or in the service range", i, ip)
		}
		seen[ip] = true
	}
}

func TestClaimGivesSecondClusterAnotherBlock(t *testing.T) {
	a, la, err := Claim(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(la)
	b, lb, err := Claim(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(lb)
	if a == b {
		t.Fatalf("both clusters got block %d", a)
	}
}

// TestNominalAddressesAreRefused: they are for a network namespace that leads nowhere, which a test's is not.
func TestNominalAddressesAreRefused(t *testing.T) {
	if err := (Wire{}).Check(t.Context(), 77); err != nil {
		t.Errorf("loopback twins: %v", err)
	}
	if err := (Wire{Direct: true}).Check(t.Context(), 77); err == nil {
		t.Error("nominal addresses are accepted")
	}
	if got := (Wire{Direct: true}).Addr("10.77.1.1"); got != "10.77.1.1" {
		t.Errorf("nominal address became %s", got)
	}
	if got := (Wire{}).Addr("10.77.1.1"); got != "127.77.1.1" {
		t.Errorf("twin is %s", got)
	}
}
