// Package kvcache stands in for the package of this name in llm-d-kv-cache-manager, which needs
// Python, ZeroMQ and a Rust library to build. It has what the precise-prefix-cache-scorer plugin
// of the scheduler refers to: the plugin can be declared and its parameters are read, but it
// cannot score. No other plugin uses it.
package kvcache

import (
	"context"
	"encoding/json"
	"errors"

	preprocessing "github.com/llm-d/llm-d-kv-cache-manager/pkg/preprocessing/chat_completions"
)

// ErrNotBuilt is what scoring comes to.
var ErrNotBuilt = errors.New("precise-prefix-cache-scorer: this build has no index of KV cache blocks")

// Config is the indexer's; what is not needed here is kept as it is.
type Config struct {
	PrefixStoreConfig    json.RawMessage       `json:"prefixStoreConfig"`
	TokenProcessorConfig *TokenProcessorConfig `json:"tokenProcessorConfig"`
	KVBlockIndexConfig   json.RawMessage       `json:"kvBlockIndexConfig"`
	TokenizersPoolConfig *TokenizersPoolConfig `json:"tokenizersPoolConfig"`
	BackendConfigs       json.RawMessage       `json:"kvCacheBackendConfigs"`
}

// TokenProcessorConfig says how tokens become blocks.
type TokenProcessorConfig struct {
	BlockSize int    `json:"blockSize"`
	HashSeed  string `json:"hashSeed"`
}

// TokenizersPoolConfig is that of the tokenizers.
type TokenizersPoolConfig struct {
	WorkersCount      int                `json:"workersCount"`
	HFTokenizerConfig *HFTokenizerConfig `json:"hf"`
}

// HFTokenizerConfig is that of a tokenizer from the hub.
type HFTokenizerConfig struct {
	Enabled            bool   `json:"enabled"`
	HuggingFaceToken   string `json:"huggingFaceToken"`
	TokenizersCacheDir string `json:"tokenizersCacheDir"`
}

// NewDefaultConfig is an empty configuration.
func NewDefaultConfig() (*Config, error) { return &Config{}, nil }

// Indexer finds nothing.
type Indexer struct{}

// NewKVCacheIndexer never fails.
func NewKVCacheIndexer(context.Context, *Config) (*Indexer, error) { return &Indexer{}, nil }

// Run has nothing to do.
func (*Indexer) Run(context.Context) {}

// KVBlockIndex is what the pool of events would fill.
func (*Indexer) KVBlockIndex() any { return nil }

// GetPodScores fails with ErrNotBuilt.
func (*Indexer) GetPodScores(context.Context, *preprocessing.RenderJinjaTemplateRequest, string, string, []string) (map[string]float64, error) {
	return nil, ErrNotBuilt
}
