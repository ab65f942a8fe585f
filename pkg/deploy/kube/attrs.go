package kube

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mifbench/mifbench/pkg/resource"
)

// LiveAttrs are attributes that only the cluster knows: address and url of a Gateway or a
// Service. The map is empty while there is no address. Of several addresses of a Gateway an IP
// is preferred to a host name, which often resolves in the cluster only.
func (d *Driver) LiveAttrs(ctx context.Context, id resource.ID) (map[string]string, error) {
	obj, err := d.get(ctx, id)
	if err != nil {
		return nil, err
	}
	if obj == nil {
		return nil, fmt.Errorf("%s: does not exist (yet)", id)
	}
	switch id.Kind {
	case "Gateway":
		return endpoint(gatewayAddress(obj), "spec", "listeners", obj), nil
	case "Service":
		return endpoint(serviceAddress(obj), "spec", "ports", obj), nil
	}
	return map[string]string{}, nil
}

func gatewayAddress(obj map[string]any) string {
	list, _, _ := unstructured.NestedSlice(obj, "status", "addresses")
	best := ""
	for _, v := range list {
		m, _ := v.(map[string]any)
		value, _ := m["value"].(string)
		if net.ParseIP(value) != nil {
			return value
		}
		if best == "" {
			best = value
		}
	}
	return best
}

func serviceAddress(obj map[string]any) string {
	list, _, _ := unstructured.NestedSlice(obj, "status", "loadBalancer", "ingress")
	for _, v := range list {
		m, _ := v.(map[string]any)
		for _, k := range []string{"ip", "hostname"} {
			if s, _ := m[k].(string); s != "" {
				return s
			}
		}
	}
	ip, _, _ := unstructured.NestedString(obj, "spec", "clusterIP")
	if ip == "None" {
		return ""
	}
	return ip
}

// endpoint makes a URL of an address and the first listener or port.
func endpoint(address, outer, list string, obj map[string]any) map[string]string {
	if address == "" {
		return map[string]string{}
	}
	ports, _, _ := unstructured.NestedSlice(obj, outer, list)
	if len(ports) == 0 {
		return map[string]string{"address": address}
	}
	first, _ := ports[0].(map[string]any)
	port, _ := first["port"].(int64)
	protocol, _ := first["protocol"].(string)
	scheme := "http"
	if strings.EqualFold(protocol, "HTTPS") || port == 443 {
		scheme = "https"
	}
	return map[string]string{
		"address": address,
		"port":    strconv.FormatInt(port, 10),
		"url":     scheme + "://" + net.JoinHostPort(address, strconv.FormatInt(port, 10)),
	}
}
