package kubelet

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

// resolver finds the cluster IP of a Service.
type resolver func(namespace, name string) (ip string, ok bool)

// names puts loopback addresses where a process would find the cluster network: there is no DNS for Services here, and
// nominal addresses lead nowhere. It works on text, before a process starts: command lines, variables, and files of
// volumes. A Service that does not exist yet keeps its name.
type names struct {
	wire    address.Wire
	resolve resolver
	nominal *regexp.Regexp
	service *regexp.Regexp
}

func newNames(b address.Block, w address.Wire, r resolver) names {
	return names{
		wire:    w,
		resolve: r,
		nominal: regexp.MustCompile(fmt.Sprintf(`\b10\.%d\.\d{1,3}\.\d{1,3}\b`, b)),
		service: regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*)\.([a-z0-9][a-z0-9-]*)\.svc(\.cluster\.local)?\b`),
	}
}

func (n names) rewrite(s string) string {
	if strings.Contains(s, ".svc") && n.resolve != nil {
		s = n.service.ReplaceAllStringFunc(s, func(name string) string {
			m := n.service.FindStringSubmatch(name)
			if ip, ok := n.resolve(m[2], m[1]); ok {
				return ip
			}
			return name
		})
	}
	return n.nominal.ReplaceAllStringFunc(s, n.wire.Addr)
}

func (n names) rewriteAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = n.rewrite(s)
	}
	return out
}
