package kubelet

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestCredentials(t *testing.T) {
	const host = "1.dkr.ecr.ap-northeast-2.amazonaws.com"
	s := store{
		"good":  {corev1.DockerConfigJsonKey: `{"auths":{"https://` + host + `":{"auth":"QVdTOng="}}}`},
		"empty": {corev1.DockerConfigJsonKey: `{"auths":{"` + host + `":{}}}`},
		"other": {corev1.DockerConfigJsonKey: `{"auths":{"ghcr.io":{"auth":"eDp4"}}}`},
		"bad":   {corev1.DockerConfigJsonKey: `{`},
	}
	for _, c := range []struct {
		image, secret string
		want          bool
	}{
		{host + "/heimdall:v1", "good", true},
		{host + "/heimdall:v1", "empty", false},
		{host + "/heimdall:v1", "other", false},
		{host + "/heimdall:v1", "bad", false},
		{host + "/heimdall:v1", "missing", false},
		{"ghcr.io/x/y", "missing", true},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{ImagePullSecrets: []corev1.LocalObjectReference{{Name: c.secret}}}}
		if got := credentials(pod, c.image, []string{host}, s); got != c.want {
			t.Errorf("%s with secret %s: got %v", c.image, c.secret, got)
		}
	}
}
