package istio

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

// firstShadowPort is the Service port that stands for a pool's first target port.
const firstShadowPort = 54321

// shadow writes the headless Service by which Istio finds the endpoints of a pool that a Gateway leads to. Nothing here
// uses it, but whoever lists a namespace meets it.
func (ctl *controller) shadow(ctx context.Context, p *pool, services []*corev1.Service) error {
	name := shadowName(p.live.GetName())
	for _, s := range services {
		if s.Namespace == p.live.GetNamespace() && s.Name == name && len(s.Spec.Ports) == len(p.spec.TargetPorts) {
			return nil
		}
	}
	u, err := reconcile.Object(reconcile.Services(), shadowService(p))
	if err != nil {
		return err
	}
	_, err = ctl.c.Apply(ctx, reconcile.Services(), u, manager)
	return err
}

func shadowName(pool string) string {
	return fmt.Sprintf("%s-ip-%.4x", pool, sha256.Sum256([]byte(pool)))
}

func shadowService(p *pool) *corev1.Service {
	appProtocol, _ := nested(p.live.Object, "spec", "appProtocol").(string)
	picker := p.spec.EndpointPickerRef
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: shadowName(p.live.GetName()), Namespace: p.live.GetNamespace(),
			Labels: map[string]string{
				"istio.io/inferencepool-name":                   p.live.GetName(),
				"istio.io/inferencepool-extension-service":      picker.Name,
				"istio.io/inferencepool-extension-port":         strconv.Itoa(picker.Port.Number),
				"istio.io/inferencepool-extension-failure-mode": picker.FailureMode,
				"internal.istio.io/service-semantics":           "inferencepool",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: reconcile.InferencePools().GroupVersion().String(), Kind: "InferencePool", Name: p.live.GetName(), UID: p.live.GetUID(),
			}},
		},
		Spec: corev1.ServiceSpec{Selector: p.spec.Selector.MatchLabels, Type: corev1.ServiceTypeClusterIP, ClusterIP: corev1.ClusterIPNone},
	}
	for i, port := range p.spec.TargetPorts {
		sp := corev1.ServicePort{
			Name: fmt.Sprintf("http-%d", i), Protocol: corev1.ProtocolTCP, Port: int32(firstShadowPort + i), TargetPort: intstr.FromInt(port.Number),
		}
		if appProtocol != "" {
			sp.AppProtocol = &appProtocol
		}
		s.Spec.Ports = append(s.Spec.Ports, sp)
	}
	return s
}

// led tells whether a status names a parent.
func led(status map[string]any) bool {
	parents, _ := status["parents"].([]any)
	return len(parents) > 0
}
