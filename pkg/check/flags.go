package check

import (
	"regexp"
	"strconv"
	"strings"
)

// presetFlags is the ISVC_EXTRA_ARGS of a published preset (moai-inference-preset v0.5.0), ""
// for templates that are not known. Bases set none.
func presetFlags(template string) string {
	const common = "--trust-remote-code --kv-transfer-config X --disable-uvicorn-access-log --no-enable-log-requests --disable-log-stats " +
		"--no-enable-prefix-caching --no-enable-chunked-prefill --enforce-eager --kv-cache-dtype fp8_e4m3 --quantization ds_fp8_per_token " +
		"--gpu-memory-utilization 0.92 --block-size 16 --max-model-len 8192 --max-num-seqs 2048 --max-num-batched-tokens "
	switch template {
	case "quickstart-vllm-deepseek-ai-deepseek-r1-decode-amd-mi300x-dp8-moe-ep8":
		return common + "16384"
	case "quickstart-vllm-deepseek-ai-deepseek-r1-prefill-amd-mi300x-dp8-moe-ep8":
		return common + "64000"
	}
	return ""
}

// splitFlags cuts a command line at spaces outside of quotes, and --a=b into two words.
func splitFlags(text string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\S)+`).FindAllString(text, -1) {
		name, value, ok := strings.Cut(w, "=")
		if strings.HasPrefix(w, "--") && ok {
			out = append(out, name, value)
			continue
		}
		out = append(out, w)
	}
	return out
}

// flagValue is the number behind a flag; the last one wins, as in the engine.
func flagValue(flags []string, name string) (int64, bool) {
	n, found := int64(0), false
	for i, f := range flags {
		if f != name || i+1 == len(flags) {
			continue
		}
		if v, err := strconv.ParseInt(flags[i+1], 10, 64); err == nil {
			n, found = v, true
		}
	}
	return n, found
}

// switchedOff tells whether the last of --x, --no-x says no; --no-x must be there at least.
func switchedOff(flags []string, name string) bool {
	off := false
	for _, f := range flags {
		switch f {
		case "--" + name:
			off = false
		case "--no-" + name:
			off = true
		}
	}
	return off
}

// sameFlag: the engine takes abbreviations, and --no-x speaks of the same setting as --x.
func sameFlag(a, b string) bool {
	a, b = strings.TrimPrefix(a, "--no-"), strings.TrimPrefix(b, "--no-")
	a, b = strings.TrimPrefix(a, "--"), strings.TrimPrefix(b, "--")
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
