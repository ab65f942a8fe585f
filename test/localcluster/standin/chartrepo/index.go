package chartrepo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// index is a repository's index.yaml.
type index struct {
	entries map[string][]map[string]any
}

func newIndex() *index { return &index{entries: map[string][]map[string]any{}} }

// add enters a chart's version: its metadata, where it is, and the digest that a client checks.
func (i *index) add(chart, file string, meta map[string]any, archive []byte) {
	sum := sha256.Sum256(archive)
	entry := map[string]any{
		"created": packed().Format(time.RFC3339), "digest": hex.EncodeToString(sum[:]), "urls": []string{file},
	}
	for k, v := range meta {
		entry[k] = v
	}
	i.entries[chart] = append(i.entries[chart], entry)
}

func (i *index) yaml() ([]byte, error) {
	out, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "generated": packed().Format(time.RFC3339), "entries": i.entries})
	if err != nil {
		return nil, fmt.Errorf("index.yaml: %w", err)
	}
	return out, nil
}
