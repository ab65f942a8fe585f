// Package eppcheck loads a configuration of the endpoint picker with the loader and the plugins
// of llm-d-inference-scheduler, without starting it.
package eppcheck

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-logr/logr"
	llmd "github.com/llm-d/llm-d-inference-scheduler/pkg/plugins"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/backend/metrics"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/config/loader"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/datalayer"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/flowcontrol"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/plugins"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/multi/prefix"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/picker"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/profile"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/scheduling/framework/plugins/scorer"
)

// Register makes the plugins known that the scheduler's own main and its runner register, less
// those for conformance tests. The loader keeps them in one registry for the whole process.
func Register() {
	ctrllog.SetLogger(logr.Discard()) // plugins log where they take a default in silence
	llmd.RegisterAllPlugins()
	plugins.Register(prefix.PrefixCachePluginType, prefix.PrefixCachePluginFactory)
	plugins.Register(picker.MaxScorePickerType, picker.MaxScorePickerFactory)
	plugins.Register(picker.RandomPickerType, picker.RandomPickerFactory)
	plugins.Register(picker.WeightedRandomPickerType, picker.WeightedRandomPickerFactory)
	plugins.Register(profile.SingleProfileHandlerType, profile.SingleProfileHandlerFactory)
	plugins.Register(scorer.KvCacheUtilizationScorerType, scorer.KvCacheUtilizationScorerFactory)
	plugins.Register(scorer.QueueScorerType, scorer.QueueScorerFactory)
	plugins.Register(scorer.LoraAffinityScorerType, scorer.LoraAffinityScorerFactory)
	loader.RegisterFeatureGate(datalayer.FeatureGate)
	loader.RegisterFeatureGate(flowcontrol.FeatureGate)
}

// Types are the registered plugin types, sorted.
func Types() []string { return slices.Sorted(maps.Keys(plugins.Registry)) }

// Load is what the scheduler does with its configuration before it serves. A panic of the loader,
// which ends the scheduler's process, is an error here. Plugins may start goroutines, which end
// with ctx.
func Load(ctx context.Context, yaml []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the loader panics: %v", r)
		}
	}()
	raw, _, err := loader.LoadConfigPhaseOne(yaml, logr.Discard())
	if err != nil {
		return err
	}
	noPods := func(func(metrics.PodMetrics) bool) []metrics.PodMetrics { return nil }
	_, err = loader.LoadConfigPhaseTwo(raw, plugins.NewEppHandle(ctx, noPods), logr.Discard())
	return err
}
