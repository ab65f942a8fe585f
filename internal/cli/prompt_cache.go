package cli

import (
	"os"
	"path/filepath"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// promptCacheVar names the directory of the prompt cache; "off" for none.
const promptCacheVar = "MIFBENCH_PROMPT_CACHE"

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
	switch {
	case use.Read > 0 && use.Made == 0:
		a.say("  the prompts are from the prompt cache, %s", use.Dir)
	case use.Read > 0:
		a.say("  %d %% of the prompts are from the prompt cache, %s", 100*use.Read/(use.Read+use.Made), use.Dir)
	}
}
