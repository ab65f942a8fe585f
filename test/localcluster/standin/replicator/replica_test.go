package replicator

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReplica(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	src := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "mif", ResourceVersion: "7", Labels: map[string]string{"from": "source"}, Annotations: map[string]string{matching: "mif=enabled"}},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{"b": []byte("2"), "a": []byte("1")},
	}
	stamps := map[string]string{at: "2026-11-30T12:00:00Z", fromVersion: "7", keys: "a,b"}
	cases := []struct {
		name string
		old  *corev1.Secret
		want *corev1.Secret
	}{
		{"a new copy has the source's labels, type and data, not its annotations", nil,
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n", Labels: src.Labels, Annotations: stamps}, Type: src.Type, Data: src.Data}},
		{"an existing secret loses labels and data, keeps type and annotations",
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n", ResourceVersion: "3", Labels: map[string]string{"owner": "me"}, Annotations: map[string]string{"mine": "1"}}, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"c": nil}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n", ResourceVersion: "3", Labels: src.Labels, Annotations: map[string]string{"mine": "1", at: stamps[at], fromVersion: "7", keys: "a,b"}}, Type: corev1.SecretTypeOpaque, Data: src.Data}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, replica(src, c.old, "n", now)); d != "" {
				t.Errorf("copy (-want +got):\n%s", d)
			}
		})
	}
}

func TestDockerConfigTellsItsExpiry(t *testing.T) {
	expires := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	raw, err := dockerConfig(expires)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Auths map[string]struct{ Username, Password, Auth string }
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	entry := config.Auths[registry]
	auth, err := base64.StdEncoding.DecodeString(entry.Auth)
	if err != nil || string(auth) != "AWS:"+entry.Password || entry.Username != "AWS" {
		t.Errorf("auth is not user and password (%v)", err)
	}
	token, err := base64.StdEncoding.DecodeString(entry.Password)
	if err != nil || !strings.Contains(string(token), `"expiration":1796040000`) {
		t.Errorf("password %s tells no expiry (%v)", token, err)
	}
}
