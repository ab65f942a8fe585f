package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// promptCacheVar names the directory of the prompt cache; "off" for none.
const promptCacheVar = "MIFBENCH_PROMPT_CACHE"

// promptCacheMaxVar bounds the prompt cache: a size such as 500M or 4Gi; "off" for no bound.
const promptCacheMaxVar = "MIFBENCH_PROMPT_CACHE_MAX"

// promptCacheMax is the bound without the variable. The seed's six scenarios need a quarter of it.
const promptCacheMax = 4 << 30

// useCache has prompts kept between runs.
func (a *app) useCache(o *dataset.Options) error {
	var err error
	if o.CacheDir = a.promptCache(); o.CacheDir != "" {
		o.CacheMax, err = a.cacheMax()
	}
	return err
}

func (a *app) cacheMax() (int64, error) {
	text := a.env.lookup(promptCacheMaxVar)
	switch text {
	case "":
		return promptCacheMax, nil
	case "off":
		return 0, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Value() <= 0 {
		return 0, fmt.Errorf("%s is %q; want a size such as 500M or 4Gi, or off for no bound", promptCacheMaxVar, text)
	}
	return q.Value(), nil
}

// promptCache is the directory in which cut prompts are kept between runs: the variable's, or
// mifbench/prompts in the user's cache directory. "" when there is none to be had, which costs
// time only.
func (a *app) promptCache() string {
	dir := a.env.lookup(promptCacheVar)
	if dir == "off" {
		return ""
	}
	if dir == "" {
		base := a.env.cacheDir()
		if base == "" {
			return ""
		}
		dir = filepath.Join(base, "mifbench", "prompts")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		a.say("  note: no prompt cache: %v", err)
		return ""
	}
	return dir
}

// sayCache tells where prompts came from when it was not the dataset.
func (a *app) sayCache(s dataset.Source) { a.sayCacheUse(dataset.CacheUseOf(s)) }

func (a *app) sayCacheUse(use dataset.CacheUse) {
	if use.Lost > 0 {
		a.say("  note: the prompt cache, %s, has reached its size and is in use; %d prompts were not kept. %s sets the size", filepath.Dir(use.Dir), use.Lost, promptCacheMaxVar)
	}
	switch {
	case use.Read > 0 && use.Made == 0:
		a.say("  the prompts are from the prompt cache, %s", use.Dir)
	case use.Read > 0:
		a.say("  %d %% of the prompts are from the prompt cache, %s", 100*use.Read/(use.Read+use.Made), use.Dir)
	}
}
