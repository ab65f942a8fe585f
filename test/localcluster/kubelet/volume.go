package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mounts maps paths inside a container to paths on this machine. Processes are not put into a mount namespace (that would
// need root); instead mount paths in command lines and environment values are replaced.
type mounts []mount

type mount struct{ inside, outside string }

// rewrite replaces every mount path in s that begins at a word and ends at a path boundary.
func (m mounts) rewrite(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != '/' || i > 0 && !startsPath(s[i-1]) {
			continue
		}
		for _, mt := range m { // longest first
			if rest, ok := strings.CutPrefix(s[i:], mt.inside); ok && (rest == "" || endsPath(rest[0])) {
				s = s[:i] + mt.outside + rest
				i += len(mt.outside) - 1
				break
			}
		}
	}
	return s
}

func (m mounts) rewriteAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = m.rewrite(s)
	}
	return out
}

func startsPath(c byte) bool { return strings.IndexByte(" \t\n='\":,;<>(|&@", c) >= 0 }
func endsPath(c byte) bool   { return strings.IndexByte("/ \t\n'\":,;<>)|&", c) >= 0 }

// containerMounts lists the mounts of a container, given where each volume of the pod lies.
func containerMounts(c *corev1.Container, volumes map[string]string) mounts {
	var out mounts
	for _, vm := range c.VolumeMounts {
		if dir, ok := volumes[vm.Name]; ok {
			out = append(out, mount{strings.TrimSuffix(vm.MountPath, "/"), filepath.Join(dir, vm.SubPath)})
		}
	}
	slices.SortFunc(out, func(a, b mount) int { return cmp.Compare(len(b.inside), len(a.inside)) })
	return out
}

// tokens requests a service account token.
type tokens func(ctx context.Context, audience string) (string, error)

// volumes lays out the volumes of a pod under dir and returns where each lies. A hostPath is this machine's path itself.
// Kinds that need storage (claims, CSI) are empty folders. token is nil where no process would read the token; edit is
// applied to every file.
func volumes(ctx context.Context, pod *corev1.Pod, dir string, l lookup, token tokens, edit func(string) string) (map[string]string, error) {
	out := map[string]string{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.HostPath != nil {
			out[v.Name] = v.HostPath.Path
			continue
		}
		at := filepath.Join(dir, v.Name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return nil, err
		}
		files, err := volumeFiles(ctx, pod, v, l, token)
		if err != nil {
			return nil, fmt.Errorf("MountVolume.SetUp failed for volume %q : %w", v.Name, err)
		}
		if err := writeFiles(at, files, edit); err != nil {
			return nil, err
		}
		out[v.Name] = at
	}
	return out, nil
}

func writeFiles(dir string, files map[string]string, edit func(string) string) error {
	for name, data := range files {
		f := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(f, []byte(edit(data)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// volumeFiles computes the files of a volume.
func volumeFiles(ctx context.Context, pod *corev1.Pod, v *corev1.Volume, l lookup, token tokens) (map[string]string, error) {
	switch {
	case v.ConfigMap != nil:
		data, err := l.configMap(v.ConfigMap.Name)
		return items(data, v.ConfigMap.Items, v.ConfigMap.Optional, err)
	case v.Secret != nil:
		data, err := l.secret(v.Secret.SecretName)
		return items(data, v.Secret.Items, v.Secret.Optional, err)
	case v.DownwardAPI != nil:
		return downward(pod, v.DownwardAPI.Items)
	case v.Projected != nil:
		return projected(ctx, pod, v.Projected.Sources, l, token)
	}
	return nil, nil
}

func projected(ctx context.Context, pod *corev1.Pod, sources []corev1.VolumeProjection, l lookup, token tokens) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range sources {
		var files map[string]string
		var err error
		switch {
		case s.ConfigMap != nil:
			var data map[string]string
			data, err = l.configMap(s.ConfigMap.Name)
			files, err = items(data, s.ConfigMap.Items, s.ConfigMap.Optional, err)
		case s.Secret != nil:
			var data map[string]string
			data, err = l.secret(s.Secret.Name)
			files, err = items(data, s.Secret.Items, s.Secret.Optional, err)
		case s.DownwardAPI != nil:
			files, err = downward(pod, s.DownwardAPI.Items)
		case s.ServiceAccountToken != nil && token != nil:
			var t string
			t, err = token(ctx, s.ServiceAccountToken.Audience)
			files = map[string]string{s.ServiceAccountToken.Path: t}
		}
		if err != nil {
			return nil, err
		}
		for k, v := range files {
			out[k] = v
		}
	}
	return out, nil
}

// items selects the files that a volume source asks for; none asked for means all.
func items(data map[string]string, want []corev1.KeyToPath, optional *bool, err error) (map[string]string, error) {
	opt := optional != nil && *optional
	if err != nil {
		if opt {
			return nil, nil
		}
		return nil, err
	}
	if len(want) == 0 {
		return data, nil
	}
	out := map[string]string{}
	for _, it := range want {
		v, ok := data[it.Key]
		if !ok && !opt {
			return nil, fmt.Errorf("references non-existent config key: %s", it.Key)
		}
		if ok {
			out[it.Path] = v
		}
	}
	return out, nil
}

func downward(pod *corev1.Pod, want []corev1.DownwardAPIVolumeFile) (map[string]string, error) {
	out := map[string]string{}
	for _, it := range want {
		if it.FieldRef == nil {
			continue
		}
		v, err := fieldValue(pod, it.FieldRef.FieldPath, "", "")
		if err != nil {
			return nil, err
		}
		out[it.Path] = v
	}
	return out, nil
}
