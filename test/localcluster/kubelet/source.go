package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

// tokenMount is where pods find their service account token.
const tokenMount = "/var/run/secrets/kubernetes.io/serviceaccount"

// apiLookup reads ConfigMaps and Secrets from the API server.
type apiLookup struct {
	ctx       context.Context //nolint:containedctx // made for one call, to keep the pure functions above free of it
	k         *Kubelet
	namespace string
}

func (k *Kubelet) lookup(ctx context.Context, namespace string) lookup {
	return apiLookup{ctx: ctx, k: k, namespace: namespace}
}

func (l apiLookup) configMap(name string) (map[string]string, error) {
	cm, err := l.k.client.CoreV1().ConfigMaps(l.namespace).Get(l.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for k, v := range cm.Data {
		out[k] = v
	}
	for k, v := range cm.BinaryData {
		out[k] = string(v)
	}
	return out, nil
}

func (l apiLookup) secret(name string) (map[string]string, error) {
	s, err := l.k.client.CoreV1().Secrets(l.namespace).Get(l.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for k, v := range s.Data {
		out[k] = string(v)
	}
	return out, nil
}

// token asks for tokens of the pod's service account, bound to the pod.
func (k *Kubelet) token(pod *corev1.Pod) tokens {
	return func(ctx context.Context, audience string) (string, error) {
		req := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
			BoundObjectRef: &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
		}}
		if audience != "" {
			req.Spec.Audiences = []string{audience}
		}
		t, err := k.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, req, metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		return t.Status.Token, nil
	}
}

// clusterEnv tells a process where the API server is. A client looks for the token at a fixed path, where there is
// none on this machine: it gets a kubeconfig with the pod's service account instead.
func (k *Kubelet) clusterEnv(home string, m mounts) ([]string, error) {
	at := m.rewrite(tokenMount)
	token, err := os.ReadFile(filepath.Join(at, "token"))
	if at == tokenMount || err != nil {
		return nil, nil // no token was mounted
	}
	ca, err := os.ReadFile(filepath.Join(at, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	ns, err := os.ReadFile(filepath.Join(at, "namespace"))
	if err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	c := api.NewConfig()
	c.Clusters["pod"] = &api.Cluster{Server: k.Config.Host, CertificateAuthorityData: ca}
	c.AuthInfos["pod"] = &api.AuthInfo{Token: string(token)}
	c.Contexts["pod"] = &api.Context{Cluster: "pod", AuthInfo: "pod", Namespace: string(ns)}
	c.CurrentContext = "pod"
	file := filepath.Join(home, ".kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	return []string{"KUBECONFIG=" + file}, nil
}
