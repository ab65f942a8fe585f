package serviceproxy

import (
	"context"
	"io"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

func TestTable(t *testing.T) {
	svc := func(name, ip string, ports ...corev1.ServicePort) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name},
			Spec: corev1.ServiceSpec{ClusterIP: ip, Ports: ports, Selector: map[string]string{"a": "b"}}}
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		Ports:      []discoveryv1.EndpointPort{{Name: ptr.To("http"), Port: ptr.To[int32](8080)}, {Name: ptr.To("grpc"), Port: ptr.To[int32](9000)}},
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"10.77.1.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}},
			{Addresses: []string{"10.77.1.2"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}},
		},
	}
	got := table(address.Wire{}, []*corev1.Service{
		svc("web", "10.77.128.5", corev1.ServicePort{Name: "http", Port: 80}, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}),
		svc("none", "10.77.128.6", corev1.ServicePort{Port: 80}),
		svc("headless", corev1.ClusterIPNone, corev1.ServicePort{Port: 80}),
	}, []*discoveryv1.EndpointSlice{slice})
	want := map[string][]string{"127.77.128.5:80": {"127.77.1.1:8080"}, "127.77.128.6:80": nil}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestForwardBothWaysAndClose(t *testing.T) {
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	go func() {
		for {
			c, err := backend.Accept()
			if err != nil {
				return
			}
			go func() { // answers when the peer has said all
				text, _ := io.ReadAll(c)
				_, _ = c.Write(append([]byte("got "), text...))
				_ = c.Close()
			}()
		}
	}()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	_ = free.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &Proxy{log: slog.New(slog.DiscardHandler), open: map[string]net.Listener{}, refused: map[string]bool{}}
	p.apply(ctx, map[string][]string{at: {backend.Addr().String()}})
	c, err := net.DialTimeout("tcp", at, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write([]byte("this"))
	_ = c.(*net.TCPConn).CloseWrite()
	if text, err := io.ReadAll(c); err != nil || string(text) != "got this" {
		t.Errorf("got %q, %v", text, err)
	}
	p.apply(ctx, nil)
	if _, err := net.DialTimeout("tcp", at, time.Second); err == nil {
		t.Error("still listening after the Service has gone")
	}
}
