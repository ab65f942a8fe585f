package client

import (
	"os"
	"testing"
)

// What the suite of streams must hold, whoever tidies it up: each server's way of writing and
// each way for a stream to go wrong. TestConformance reads them whole (events merged into one
// read), cut at every byte, and in random pieces.
func TestConformanceSuiteIsComplete(t *testing.T) {
	for what, names := range map[string][]string{
		"vLLM":                          {"vllm-completions", "vllm-chat", "vllm-continuous-usage"},
		"SGLang":                        {"sglang-chat"},
		"TGI":                           {"tgi-chat"},
		"OpenAI":                        {"openai-chat", "openai-tools", "openai-refusal"},
		"Azure: a first chunk of facts": {"azure-filter-first"},
		"llama.cpp":                     {"llamacpp-usage-with-finish"},
		"line ends":                     {"line-ends-crlf", "line-ends-cr", "line-ends-mixed"},
		"comments":                      {"comments"},
		"an empty first chunk":          {"empty-first-chunk"},
		"reasoning":                     {"vllm-reasoning"},
		"usage in the last content":     {"sglang-usage-in-last-content"},
		"no [DONE]":                     {"no-done", "no-done-no-finish"},
		"an error object":               {"vllm-error-object", "vllm-error-old", "vllm-error-first", "tgi-error"},
		"cut short":                     {"truncated-in-event", "unfinished-last-event"},
	} {
		for _, n := range names {
			for _, end := range []string{".sse", ".json"} {
				if _, err := os.Stat("testdata/streams/" + n + end); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}
