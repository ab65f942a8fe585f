package cli

// refusedFlag is a flag of vllm bench serve that this version cannot obey. It is accepted with
// its default value, which changes nothing; "false" marks a switch.
type refusedFlag struct {
	name, fallback, reason string
}

const (
	noTemplate   = "prompts are sent as they are, without a chat template"
	noMultimodal = "only text is sent"
	noPlots      = "mifbench report --format html has the plots"
	noLoRA       = "one model a run"
	noHub        = "nothing is downloaded from a hub; give a local file"
)

// refusedFlags is the table of what is refused, by upstream's groups.
func refusedFlags() []refusedFlag {
	return []refusedFlag{
		{"skip-tokenizer-init", "false", "token counts come from the server and are part of every figure"},
		{"profile", "false", "the server's profiler is not started from here"},
		{"probe-request-rate", "0", "there is no side stream of probes"},
		{"use-beam-search", "false", "a beam has no time of a token"},
		{"chat-template-kwargs", "", noTemplate},
		{"lora-modules", "", noLoRA},
		{"lora-assignment", "random", noLoRA},
		{"plot-timeline", "false", noPlots},
		{"timeline-itl-thresholds", "25,50", noPlots},
		{"plot-dataset-stats", "false", noPlots},
		{"enable-multimodal-chat", "false", noMultimodal},
		{"custom-ensure-client-side-data", "false", "images are not sent"},
		{"spec-bench-output-len", "256", noHub},
		{"spec-bench-category", "", noHub},
		{"random-batch-size", "1", "one prompt a request"},
		{"no-reranker", "false", "answers of rerankers have no tokens"},
		{"random-mm-base-items-per-request", "1", noMultimodal},
		{"random-mm-num-mm-items-range-ratio", "0.0", noMultimodal},
		{"random-mm-limit-mm-per-prompt", "", noMultimodal},
		{"random-mm-bucket-config", "", noMultimodal},
		{"hf-subset", "", noHub},
		{"hf-split", "", noHub},
		{"hf-name", "", noHub},
		{"hf-output-len", "", noHub},
		{"bfcl-categories", "", noHub},
		{"blazedit-min-distance", "0.0", noHub},
		{"blazedit-max-distance", "1.0", noHub},
		{"asr-min-audio-len-sec", "0.0", noMultimodal},
		{"asr-max-audio-len-sec", "inf", noMultimodal},
		{"speed-bench-dataset-subset", "qualitative", noHub},
		{"speed-bench-output-len", "4096", noHub},
		{"speed-bench-category", "", noHub},
	}
}

// refusedDatasets is the table of upstream's data sets that are not served, with the reason.
func refusedDatasets() map[string]string {
	return map[string]string{
		"hf": noHub, "spec_bench": "its questions are sent in turns; convert them to custom", "speed_bench": "convert its messages to custom",
		"random-mm": noMultimodal, "random-rerank": "answers of rerankers have no tokens", "custom_image": noMultimodal, "custom_audio": noMultimodal,
	}
}
