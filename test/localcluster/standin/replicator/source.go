package replicator

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mifbench/mifbench/test/localcluster/standin/reconcile"
)

const (
	systemNamespace = "mif"
	secretName      = "moreh-registry"
	registry        = "255250787067.dkr.ecr.ap-northeast-2.amazonaws.com"
	lifetime        = 12 * time.Hour
)

// applySource writes namespace mif and the pull secret in it.
func applySource(ctx context.Context, c *reconcile.Cluster) error {
	ns, err := reconcile.Object(reconcile.Namespaces(), map[string]any{"metadata": map[string]any{"name": systemNamespace}})
	if err != nil {
		return err
	}
	if _, err := c.Apply(ctx, reconcile.Namespaces(), ns, "replicator-stand-in"); err != nil {
		return err
	}
	config, err := dockerConfig(time.Now().Add(lifetime))
	if err != nil {
		return err
	}
	u, err := reconcile.Object(reconcile.Secrets(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: secretName, Namespace: systemNamespace, Annotations: map[string]string{matching: "mif=enabled"},
		},
		Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: config},
	})
	if err != nil {
		return err
	}
	_, err = c.Apply(ctx, reconcile.Secrets(), u, "ecr-token-refresher-stand-in")
	return err
}

// dockerConfig has the shape of an ECR login: the password is base64 JSON that tells when it expires.
func dockerConfig(expires time.Time) ([]byte, error) {
	token, err := json.Marshal(map[string]any{
		"payload": "dummy-of-the-local-control-plane", "version": "2", "type": "DATA_KEY", "expiration": expires.Unix(),
	})
	if err != nil {
		return nil, fmt.Errorf("pull secret: %w", err)
	}
	password := base64.StdEncoding.EncodeToString(token)
	return json.Marshal(map[string]any{"auths": map[string]any{registry: map[string]any{
		"username": "AWS", "password": password, "auth": base64.StdEncoding.EncodeToString([]byte("AWS:" + password)),
	}}})
}
