// Package kvevents stands in for the package of this name in llm-d-kv-cache-manager; see kvcache.
package kvevents

import "context"

// Config is that of the subscription to the engines' events.
type Config struct {
	ZMQEndpoint string `json:"zmqEndpoint"`
	TopicFilter string `json:"topicFilter"`
	Concurrency int    `json:"concurrency"`
}

// DefaultConfig is an empty configuration.
func DefaultConfig() *Config { return &Config{} }

// Pool takes no events.
type Pool struct{}

// NewPool never fails.
func NewPool(*Config, any) *Pool { return &Pool{} }

// Start has nothing to do.
func (*Pool) Start(context.Context) {}
