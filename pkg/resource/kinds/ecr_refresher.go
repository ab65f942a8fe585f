package kinds

import (
	"fmt"

	"github.com/mifbench/mifbench/pkg/resource"
)

// refresher is the in-cluster CronJob that keeps the pull Secret fresh, with a
// ServiceAccount that may do nothing else: create Secrets, and read and change this one.
func refresher(s resource.Scope, o *ECRCredentials, secret, region string) []resource.Object {
	name := cut(secret + "-refresher")
	sa := object(s, "v1", "ServiceAccount", o.Namespace, name, nil)
	setMeta(sa, "annotations", o.Refresh.Annotations)
	role := object(s, "rbac.authorization.k8s.io/v1", "Role", o.Namespace, name, map[string]any{"rules": []any{
		map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"create"}},
		map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": []any{secret}, "verbs": []any{"get", "update", "patch"}},
	}})
	binding := object(s, "rbac.authorization.k8s.io/v1", "RoleBinding", o.Namespace, name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": name, "namespace": o.Namespace}},
	})
	return []resource.Object{sa, role, binding, refreshJob(s, o, name, secret, region)}
}

func refreshJob(s resource.Scope, o *ECRCredentials, name, secret, region string) resource.Object {
	container := map[string]any{
		"name":    "refresh",
		"image":   orDefault(o.Refresh.Image, "heyvaldemar/aws-kubectl:latest"),
		"command": []any{"/bin/sh", "-ec", refreshScript(o.Namespace, secret, o.Registry)},
		"env":     []any{map[string]any{"name": "AWS_REGION", "value": region}},
	}
	if o.Refresh.CredentialsSecret != nil {
		container["envFrom"] = []any{map[string]any{"secretRef": map[string]any{"name": *o.Refresh.CredentialsSecret}}}
	}
	pod := map[string]any{"serviceAccountName": name, "restartPolicy": "OnFailure", "containers": []any{container}}
	return object(s, "batch/v1", "CronJob", o.Namespace, name, map[string]any{"spec": map[string]any{
		"schedule":          o.Refresh.Schedule,
		"concurrencyPolicy": "Forbid",
		"jobTemplate": map[string]any{"spec": map[string]any{
			"backoffLimit": int64(3),
			"template":     map[string]any{"spec": pod},
		}},
	}})
}

// refreshScript never puts the token on a command line that other processes could read:
// kubectl takes the whole Secret on standard input. ECR's authorization token already is
// the base64 user:password that a docker config wants.
func refreshScript(namespace, secret, registry string) string {
	return fmt.Sprintf(`set -- $(aws ecr get-authorization-token --query 'authorizationData[0].[authorizationToken,expiresAt]' --output text)
config=$(printf '{"auths":{"%[3]s":{"auth":"%%s"}}}' "$1" | base64 | tr -d '\n')
kubectl apply --server-side --force-conflicts --field-manager=mifbench-refresher -n %[1]s -f - <<SECRET
apiVersion: v1
kind: Secret
metadata:
  name: %[2]s
  annotations:
    mifbench.dev/expires-at: "$2"
type: kubernetes.io/dockerconfigjson
data:
  .dockerconfigjson: $config
SECRET
`, namespace, secret, registry)
}
