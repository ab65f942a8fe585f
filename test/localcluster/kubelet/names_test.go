package kubelet

import (
	"testing"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

func TestNames(t *testing.T) {
	n := newNames(77, address.Wire{}, func(namespace, name string) (string, bool) {
		return "10.77.128.9", namespace == "bench" && name == "mif-istio"
	})
	for in, want := range map[string]string{
		"http://mif-istio.bench.svc.cluster.local:80/v1": "http://127.77.128.9:80/v1",
		"--base-url=http://mif-istio.bench.svc":          "--base-url=http://127.77.128.9",
		"http://other.bench.svc:80":                      "http://other.bench.svc:80",
		"10.77.1.4:8000,10.78.1.4:8000":                  "127.77.1.4:8000,10.78.1.4:8000",
		"110.77.1.4":                                     "110.77.1.4",
		"mif-istio.bench.svcs":                           "mif-istio.bench.svcs",
	} {
		if got := n.rewrite(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
