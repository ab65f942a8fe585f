package kubelet

import (
	"context"
	"fmt"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/mifbench/mifbench/test/localcluster/address"
)

// nodeSpec describes a simulated node.
type nodeSpec struct {
	name     string
	labels   map[string]string
	taints   []corev1.Taint
	capacity corev1.ResourceList
}

// nodeSpecs lists the nodes: n GPU nodes as MIF's prerequisites label and taint them, and one node without GPUs for
// everything that does not tolerate the taint (gateway, scheduler, clients).
func nodeSpecs(n int) []nodeSpec {
	var out []nodeSpec
	for i := range n {
		out = append(out, nodeSpec{
			name: fmt.Sprintf("mi300x-%d", i),
			labels: map[string]string{
				"moai.moreh.io/accelerator.vendor": "amd", "moai.moreh.io/accelerator.model": "mi300x",
			},
			taints:   []corev1.Taint{{Key: "amd.com/gpu", Effect: corev1.TaintEffectNoSchedule}},
			capacity: capacity(map[corev1.ResourceName]string{"amd.com/gpu": "8", "mellanox/hca": "8"}),
		})
	}
	return append(out, nodeSpec{name: "cpu-0", capacity: capacity(nil)})
}

func capacity(extended map[corev1.ResourceName]string) corev1.ResourceList {
	r := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("192"), corev1.ResourceMemory: resource.MustParse("2Ti"),
		corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("4Ti"),
		"hugepages-2Mi": resource.MustParse("0"),
	}
	for k, v := range extended {
		r[k] = resource.MustParse(v)
	}
	return r
}

func (n nodeSpec) node() *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		"node.kubernetes.io/instance-type": "localcluster",
	}
	for k, v := range n.labels {
		labels[k] = v
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: labels}, Spec: corev1.NodeSpec{Taints: n.taints}}
}

// registerNode creates a node and makes it Ready.
func (k *Kubelet) registerNode(ctx context.Context, n nodeSpec, ip string) error {
	nodes := k.client.CoreV1().Nodes()
	got, err := nodes.Create(ctx, n.node(), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create node %s: %w", n.name, err)
	}
	got.Status = nodeStatus(n, ip, k.now())
	if got, err = nodes.UpdateStatus(ctx, got, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("status of node %s: %w", n.name, err)
	}
	// Admission taints a new node not-ready:NoSchedule; the node lifecycle controller, which would lift it, is not here.
	got.Spec.Taints = n.taints
	if _, err := nodes.Update(ctx, got, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("lift the not-ready taint of node %s: %w", n.name, err)
	}
	return nil
}

func nodeStatus(n nodeSpec, ip string, now time.Time) corev1.NodeStatus {
	t := metav1.NewTime(now)
	st := corev1.NodeStatus{
		Capacity: n.capacity, Allocatable: n.capacity,
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}, {Type: corev1.NodeHostName, Address: n.name}},
		NodeInfo: corev1.NodeSystemInfo{Architecture: "amd64", OperatingSystem: "linux", OSImage: "localcluster (simulated)",
			KubeletVersion: "v1.37.2-localcluster", ContainerRuntimeVersion: "localcluster://1"},
		Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
			{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
			{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"},
		},
	}
	st.DaemonEndpoints.KubeletEndpoint.Port = address.KubeletPort
	for i := range st.Conditions {
		st.Conditions[i].LastHeartbeatTime, st.Conditions[i].LastTransitionTime = t, t
	}
	return st
}

// leases renews the nodes' heartbeats until ctx ends.
func (k *Kubelet) leases(ctx context.Context, nodes []nodeSpec) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		for _, n := range nodes {
			if err := k.renewLease(ctx, n.name); err != nil && ctx.Err() == nil {
				k.log.Warn("lease of node", "node", n.name, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (k *Kubelet) renewLease(ctx context.Context, node string) error {
	leases := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	spec := coordv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: ptr.To[int32](40), RenewTime: ptr.To(metav1.NewMicroTime(k.now()))}
	old, err := leases.Get(ctx, node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: spec}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	old.Spec = spec
	_, err = leases.Update(ctx, old, metav1.UpdateOptions{})
	return err
}
