package kubelet

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// lookup finds the data of a ConfigMap or Secret in the pod's namespace; it returns an error when there is none.
type lookup interface {
	configMap(name string) (map[string]string, error)
	secret(name string) (map[string]string, error)
}

// variables computes the environment of a container, in order; later entries win. Errors are those that a kubelet shows
// as CreateContainerConfigError.
func variables(pod *corev1.Pod, c *corev1.Container, ip, hostIP string, l lookup) ([]corev1.EnvVar, error) {
	var out []corev1.EnvVar
	for _, from := range c.EnvFrom {
		vars, err := envFrom(from, l)
		if err != nil {
			return nil, err
		}
		out = append(out, vars...)
	}
	known := map[string]string{}
	for _, v := range out {
		known[v.Name] = v.Value
	}
	mapping := expansion.MappingFuncFor(known)
	for _, e := range c.Env {
		v, ok := expansion.Expand(e.Value, mapping), true
		if e.ValueFrom != nil {
			var err error
			if v, ok, err = valueFrom(pod, c, e.ValueFrom, ip, hostIP, l); err != nil {
				return nil, err
			}
		}
		if ok {
			known[e.Name] = v
			out = append(out, corev1.EnvVar{Name: e.Name, Value: v})
		}
	}
	return out, nil
}

func envFrom(from corev1.EnvFromSource, l lookup) ([]corev1.EnvVar, error) {
	var data map[string]string
	var err error
	var optional *bool
	switch {
	case from.ConfigMapRef != nil:
		optional = from.ConfigMapRef.Optional
		data, err = l.configMap(from.ConfigMapRef.Name)
	case from.SecretRef != nil:
		optional = from.SecretRef.Optional
		data, err = l.secret(from.SecretRef.Name)
	}
	if err != nil && (optional == nil || !*optional) {
		return nil, err
	}
	var out []corev1.EnvVar
	for k, v := range data {
		out = append(out, corev1.EnvVar{Name: from.Prefix + k, Value: v})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// valueFrom resolves a reference; ok is false for an optional one that points nowhere.
func valueFrom(pod *corev1.Pod, c *corev1.Container, s *corev1.EnvVarSource, ip, hostIP string, l lookup) (v string, ok bool, err error) {
	switch {
	case s.FieldRef != nil:
		v, err = fieldValue(pod, s.FieldRef.FieldPath, ip, hostIP)
		return v, true, err
	case s.ConfigMapKeyRef != nil:
		data, err := l.configMap(s.ConfigMapKeyRef.Name)
		return key(data, s.ConfigMapKeyRef.Key, "configmap "+s.ConfigMapKeyRef.Name, s.ConfigMapKeyRef.Optional, err)
	case s.SecretKeyRef != nil:
		data, err := l.secret(s.SecretKeyRef.Name)
		return key(data, s.SecretKeyRef.Key, "secret "+s.SecretKeyRef.Name, s.SecretKeyRef.Optional, err)
	case s.ResourceFieldRef != nil:
		v, err = resourceValue(c, s.ResourceFieldRef)
		return v, true, err
	}
	return "", false, nil
}

func key(data map[string]string, k, in string, optional *bool, err error) (string, bool, error) {
	opt := optional != nil && *optional
	if v, ok := data[k]; ok && err == nil {
		return v, true, nil
	}
	if opt {
		return "", false, nil
	}
	if err == nil {
		err = fmt.Errorf("couldn't find key %s in %s", k, in)
	}
	return "", false, err
}

// fieldValue resolves the downward API's field paths.
func fieldValue(pod *corev1.Pod, path, ip, hostIP string) (string, error) {
	if k, ok := subscript(path, "metadata.labels"); ok {
		return pod.Labels[k], nil
	}
	if k, ok := subscript(path, "metadata.annotations"); ok {
		return pod.Annotations[k], nil
	}
	switch path {
	case "metadata.labels":
		return fieldpath.FormatMap(pod.Labels), nil
	case "metadata.annotations":
		return fieldpath.FormatMap(pod.Annotations), nil
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs":
		return ip, nil
	case "status.hostIP", "status.hostIPs":
		return hostIP, nil
	}
	return "", fmt.Errorf("unsupported fieldPath: %s", path)
}

func subscript(path, field string) (string, bool) {
	rest, ok := strings.CutPrefix(path, field+"['")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "']")
}

// resourceValue gives a limit or request; a missing limit is all that the node has.
func resourceValue(c *corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	c = c.DeepCopy()
	apiresource.MergeContainerResourceLimits(c, capacity(nil))
	return apiresource.ExtractContainerResourceValue(ref, c)
}

// expandArgs puts variables into a command line, $(NAME) as in the Kubernetes API.
func expandArgs(argv []string, env []corev1.EnvVar) []string {
	known := map[string]string{}
	for _, v := range env {
		known[v.Name] = v.Value
	}
	mapping := expansion.MappingFuncFor(known)
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = expansion.Expand(a, mapping)
	}
	return out
}
