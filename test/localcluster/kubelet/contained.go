package kubelet

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Runtimes are commands that play the containers of certain images, by the last element of the image's name without its
// tag. A command gets the container's arguments, its variables as they stand, and the Runtime variables; it is to give
// the container its mounts and the pod's address.
type Runtimes map[string][]string

// Variables of a runtime.
const (
	RuntimePodIP  = "LOCALCLUSTER_POD_IP" // the pod's address
	RuntimePod    = "LOCALCLUSTER_POD"    // the pod's UID
	RuntimeMounts = "LOCALCLUSTER_MOUNTS" // file: one "inside outside" per line
	RuntimeHosts  = "LOCALCLUSTER_HOSTS"  // file: names of Services, as in /etc/hosts
)

func (r Runtimes) of(image string) []string {
	name := path.Base(image)
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return r[name]
}

// containedEnv is the environment of a runtime and its container; home takes the files.
func (r *runner) containedEnv(home string, m mounts, vars []corev1.EnvVar) ([]string, error) {
	k := r.w.k
	var lines strings.Builder
	for _, mt := range m {
		lines.WriteString(mt.inside + " " + mt.outside + "\n")
	}
	hosts := ""
	if k.Hosts != nil {
		hosts = k.Hosts()
	}
	files := map[string]string{RuntimeMounts: lines.String(), RuntimeHosts: hosts}
	env := append(hostEnv(k.Marker, "/"), "HOSTNAME="+r.pod.Name,
		"KUBERNETES_SERVICE_HOST="+k.Block.KubernetesService(), "KUBERNETES_SERVICE_PORT=443",
		RuntimePod+"="+string(r.pod.UID), RuntimePodIP+"="+r.w.ip)
	for name, text := range files {
		at := filepath.Join(home, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return nil, err
		}
		env = append(env, name+"="+at)
	}
	for _, v := range vars {
		env = append(env, v.Name+"="+v.Value)
	}
	return env, nil
}
