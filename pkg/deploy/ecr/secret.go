package ecr

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/mifbench/mifbench/pkg/plan"
	"github.com/mifbench/mifbench/pkg/resource"
)

const (
	secretType = "kubernetes.io/dockerconfigjson"
	secretKey  = ".dockerconfigjson"
	// expiresAnnotation tells when the token dies (RFC 3339); the in-cluster refresher writes it, too.
	expiresAnnotation    = "mifbench.dev/expires-at"
	ownerAnnotation      = "mifbench.dev/stack"
	replicatedAnnotation = "replicator.v1.mittwald.de/replicated-at"
	replicatorPrefix     = "replicator.v1.mittwald.de/"
	// tokenLife is how long ECR tokens live, for copies that do not tell their expiry.
	tokenLife = 12 * time.Hour
)

// manifest is the whole Secret that apply writes.
func manifest(id resource.ID, registry string, c credential) map[string]any {
	config, err := json.Marshal(map[string]any{"auths": map[string]any{registry: map[string]any{"auth": c.auth}}})
	if err != nil {
		panic("ecr: " + err.Error())
	}
	notes := map[string]any{}
	if !c.expires.IsZero() {
		notes[expiresAnnotation] = c.expires.UTC().Format(time.RFC3339)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{"name": id.Name, "namespace": id.Namespace, "annotations": notes},
		"data":     map[string]any{secretKey: base64.StdEncoding.EncodeToString(config)},
	}
}

// registries lists the hosts that a live Secret has credentials for.
func registries(live map[string]any) ([]string, error) {
	entries, err := auths(live)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(entries))
	for host := range entries {
		out = append(out, host)
	}
	sort.Strings(out)
	return out, nil
}

// auths never puts what it could not read into its error: it may be a password.
func auths(live map[string]any) (map[string]json.RawMessage, error) {
	data, _ := live["data"].(map[string]any)
	text, _ := data[secretKey].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || text == "" {
		return nil, fmt.Errorf("it has no valid key %s", secretKey)
	}
	var config struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return nil, fmt.Errorf("its key %s is no docker config", secretKey)
	}
	return config.Auths, nil
}

// ready is the readiness rule of a pull Secret.
func ready(live map[string]any, s resource.CredentialSpec) plan.Readiness {
	if live == nil {
		return plan.Readiness{Reason: absent(s)}
	}
	if t, _ := live["type"].(string); t != secretType {
		return plan.Readiness{Failed: true, Reason: fmt.Sprintf("its type is %q, not %s", t, secretType)}
	}
	hosts, err := registries(live)
	if err != nil {
		return plan.Readiness{Reason: err.Error()}
	}
	for _, h := range hosts {
		if sameHost(h, s.Registry) {
			return plan.Readiness{Ready: true}
		}
	}
	return plan.Readiness{Reason: fmt.Sprintf("it has no entry for %s (it has: %s)", s.Registry, strings.Join(hosts, ", "))}
}

func absent(s resource.CredentialSpec) string {
	if s.Mode == resource.CredentialReplicated {
		return "the replicator has not made the copy yet; it copies into namespaces with the label mif=enabled"
	}
	return "does not exist"
}

// sameHost forgives the scheme and path that docker login writes for some registries.
func sameHost(a, b string) bool {
	trim := func(s string) string {
		s = strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
		host, _, _ := strings.Cut(s, "/")
		return host
	}
	return trim(a) == trim(b)
}

func annotations(live map[string]any) map[string]any {
	meta, _ := live["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	return notes
}

func metaText(live map[string]any, key string) string {
	meta, _ := live["metadata"].(map[string]any)
	s, _ := meta[key].(string)
	return s
}

// expiry is when the live credential dies, zero when nothing tells: our annotation, the
// expiration inside an ECR token, or the replicator's time stamp plus a token's life.
func expiry(live map[string]any, registry string) time.Time {
	notes := annotations(live)
	if t, ok := parseTime(notes[expiresAnnotation]); ok {
		return t
	}
	entries, err := auths(live)
	if err == nil {
		for host, raw := range entries {
			if !sameHost(host, registry) {
				continue
			}
			if t := tokenExpiry(raw); !t.IsZero() {
				return t
			}
		}
	}
	if t, ok := parseTime(notes[replicatedAnnotation]); ok && strings.Contains(registry, ".dkr.ecr.") {
		return t.Add(tokenLife)
	}
	return time.Time{}
}

// parseTime reads RFC 3339, and the seconds since 1970 that version 1 of the AWS command line writes.
func parseTime(v any) (time.Time, bool) {
	s, _ := v.(string)
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, true
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || seconds < 1e9 || seconds > 1e11 {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}

// tokenExpiry reads the expiration that ECR puts into its tokens (base64 of JSON); it is not
// documented, hence optional.
func tokenExpiry(entry json.RawMessage) time.Time {
	var e struct{ Auth, Password string }
	if json.Unmarshal(entry, &e) != nil {
		return time.Time{}
	}
	if e.Password == "" {
		pair, err := base64.StdEncoding.DecodeString(e.Auth)
		if err != nil {
			return time.Time{}
		}
		_, e.Password, _ = strings.Cut(string(pair), ":")
	}
	raw, err := base64.StdEncoding.DecodeString(e.Password)
	if err != nil {
		return time.Time{}
	}
	var token struct {
		Expiration int64 `json:"expiration"`
	}
	if json.Unmarshal(raw, &token) != nil || token.Expiration == 0 {
		return time.Time{}
	}
	return time.Unix(token.Expiration, 0)
}
