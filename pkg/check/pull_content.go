package check

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// pullContent is what may be said of a pull Secret: no credential of it is kept.
type pullContent struct {
	kind string
	// trouble says what is wrong with it as such, "" for nothing.
	trouble string
	hosts   []string
	// expires is when the credential dies, zero when nothing tells.
	expires time.Time
	// copied tells that a replicator wrote it.
	copied bool
}

// pullKind is the type of a Secret that a kubelet pulls images with, pullKey its one key.
const (
	pullKind = "kubernetes.io/dockerconfigjson"
	pullKey  = ".dockerconfigjson"
)

// tokenLife is how long an ECR token lives.
const tokenLife = 12 * time.Hour

// newPullContent reads a Secret, nil for one that does not exist.
func newPullContent(secret map[string]any) *pullContent {
	if secret == nil {
		return nil
	}
	notes := mapAt(secret, "metadata", "annotations")
	c := &pullContent{kind: textAt(secret, "type")}
	auths, trouble := pullAuths(textOf(mapAt(secret, "data")[pullKey]))
	c.trouble = trouble
	for _, host := range sortedKeys(auths) {
		c.hosts = append(c.hosts, bareHost(host))
		c.expires = sooner(c.expires, tokenExpiry(auths[host]))
	}
	at, _ := time.Parse(time.RFC3339, textOf(notes["replicator.v1.mittwald.de/replicated-at"]))
	if c.copied = !at.IsZero(); c.copied && c.expires.IsZero() {
		c.expires = at.Add(tokenLife)
	}
	if own, err := time.Parse(time.RFC3339, textOf(notes["mifbench.dev/expires-at"])); err == nil {
		c.expires = own
	}
	return c
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// pullAuths never puts what it could not read into its answer: it may be a password.
func pullAuths(text string) (auths map[string]map[string]string, trouble string) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || text == "" {
		return nil, "it has no valid key " + pullKey
	}
	var config struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return nil, "its key " + pullKey + " is no docker config"
	}
	auths = map[string]map[string]string{}
	for host, entry := range config.Auths {
		auths[host] = map[string]string{}
		for k, v := range entry {
			auths[host][k] = textOf(v)
		}
	}
	return auths, ""
}

// tokenExpiry reads the expiration of an ECR token, which is base64 JSON; zero for others.
func tokenExpiry(entry map[string]string) time.Time {
	password := entry["password"]
	if password == "" {
		pair, _ := base64.StdEncoding.DecodeString(entry["auth"])
		_, password, _ = strings.Cut(string(pair), ":")
	}
	raw, err := base64.StdEncoding.DecodeString(password)
	var token struct {
		Expiration int64 `json:"expiration"`
	}
	if err != nil || json.Unmarshal(raw, &token) != nil || token.Expiration == 0 {
		return time.Time{}
	}
	return time.Unix(token.Expiration, 0)
}

// bareHost forgives the scheme and path that docker login writes for some registries.
func bareHost(s string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://"), "/")
	return host
}

// shortTime is a duration for people: 3h10m, 20m, 45s.
func shortTime(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	h, min := int(d.Hours()), int(d.Minutes())%60
	switch {
	case h >= 48:
		return fmt.Sprintf("%d days", h/24)
	case h == 0:
		return fmt.Sprintf("%dm", min)
	case min == 0:
		return fmt.Sprintf("%dh", h)
	}
	return fmt.Sprintf("%dh%dm", h, min)
}
