package ecr

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/mifbench/mifbench/pkg/resource"
)

// copyEntry takes the registry's entry from a docker config file. Credential helpers are named
// in the error rather than run: running one may need a terminal.
func (d *Driver) copyEntry(_ context.Context, s resource.CredentialSpec) (credential, error) {
	file, err := d.configFile(s.ConfigFile)
	if err != nil {
		return credential{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return credential{}, fmt.Errorf("docker config: %w; run `docker login %s` or set config_file", err, s.Registry)
	}
	var config struct {
		Auths       map[string]json.RawMessage `json:"auths"`
		CredsStore  string                     `json:"credsStore"`
		CredHelpers map[string]string          `json:"credHelpers"`
	}
	if json.Unmarshal(text, &config) != nil {
		return credential{}, fmt.Errorf("docker config %s: not valid JSON", file)
	}
	var hosts []string
	for host, raw := range config.Auths {
		hosts = append(hosts, host)
		if !sameHost(host, s.Registry) {
			continue
		}
		if auth := entryAuth(raw); auth != "" {
			return credential{auth: auth, expires: tokenExpiry(raw)}, nil
		}
	}
	helper := config.CredHelpers[s.Registry]
	if helper == "" {
		helper = config.CredsStore
	}
	if helper != "" {
		return credential{}, fmt.Errorf("docker config %s: the credentials of %s are kept by docker-credential-%s and not in the file; use mode = \"aws\", or a file made by `docker login` without a helper", file, s.Registry, helper)
	}
	sort.Strings(hosts)
	return credential{}, fmt.Errorf("docker config %s: no entry for %s; it has: %s", file, s.Registry, strings.Join(hosts, ", "))
}

// entryAuth is the entry's base64 user:password, "" when it holds none.
func entryAuth(raw json.RawMessage) string {
	var e struct{ Auth, Username, Password string }
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	if e.Auth == "" && e.Username != "" {
		return base64.StdEncoding.EncodeToString([]byte(e.Username + ":" + e.Password))
	}
	return e.Auth
}

func (d *Driver) configFile(file string) (string, error) {
	if file == "" {
		file = d.options.DockerConfig
	}
	if file != "" {
		return file, nil
	}
	if dir := os.Getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "config.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("docker config: %w; set config_file", err)
	}
	return filepath.Join(home, ".docker", "config.json"), nil
}
