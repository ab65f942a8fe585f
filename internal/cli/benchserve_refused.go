package cli

// refusedFlag is a flag of vllm bench serve that this version cannot obey. It is accepted with
// its default value, which changes nothing; "false" marks a switch.
type refusedFlag struct {
	name, fallback, reason string
}

const (
	noTemplate   = "prompts are sent as they are, without a chat template"
	noMultimodal = "only text is sent"
	noTrace      = "the data set timed_trace is not served here; a scenario with a trace is"
	noPlots      = "mifbench report --format html has the plots"
	noLoRA       = "one model a run"
	noHub        = "nothing is downloaded from a hub; give a local file"
	seeded       = "prompts follow from seed and index alone"
)

// refusedFlags is the table of what is refused, by upstream's groups.
func refusedFlags() []refusedFlag {
	return []refusedFlag{
		{"skip-tokenizer-init", "false", "token counts come from the server and are part of every figure"},
		{"profile", "false", "the server's profiler is not started from here"},
		{"probe-request-rate", "0", "there is no side stream of probes"},
		{"self-timed", "false", noTrace},
		{"use-beam-search", "false", "a beam has no time of a token"},
		{"chat-template-kwargs", "", noTemplate},
		{"lora-modules", "", noLoRA},
		{"lora-assignment", "random", noLoRA},
		{"plot-timeline", "false", noPlots},
		{"timeline-itl-thresholds", "25,50", noPlots},
		{"plot-dataset-stats", "false", noPlots},
		{"no-oversample", "false", seeded},
		{"disable-shuffle", "false", seeded},
		{"enable-multimodal-chat", "false", noMultimodal},
		{"custom-output-len", "256", "the data set custom is not served here"},
		{"custom-ensure-client-side-data", "false", "the data set custom is not served here"},
		{"spec-bench-output-len", "256", noHub},
		{"spec-bench-category", "", noHub},
		{"sonnet-input-len", "550", "the data set sonnet is not served here"},
		{"sonnet-output-len", "150", "the data set sonnet is not served here"},
		{"sonnet-prefix-len", "200", "the data set sonnet is not served here"},
		{"random-input-len", "1024", noRandom},
		{"random-output-len", "128", noRandom},
		{"random-range-ratio", "0.0", noRandom},
		{"random-prefix-len", "0", noRandom},
		{"random-batch-size", "1", "one prompt a request"},
		{"no-reranker", "false", "answers of rerankers have no tokens"},
		{"random-mm-base-items-per-request", "1", noMultimodal},
		{"random-mm-num-mm-items-range-ratio", "0.0", noMultimodal},
		{"random-mm-limit-mm-per-prompt", "", noMultimodal},
		{"random-mm-bucket-config", "", noMultimodal},
		{"prefix-repetition-prefix-len", "256", noPrefixes},
		{"prefix-repetition-suffix-len", "256", noPrefixes},
		{"prefix-repetition-num-prefixes", "10", noPrefixes},
		{"prefix-repetition-output-len", "128", noPrefixes},
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
		{"timed-trace-chunk-hash-size", "16", noTrace},
		{"timed-trace-sec-multiplier", "1", noTrace},
		{"timed-trace-label-timestamp", "timestamp", noTrace},
		{"timed-trace-label-input-length", "input_length", noTrace},
		{"timed-trace-label-output-length", "output_length", noTrace},
		{"timed-trace-label-hash-ids", "hash_ids", noTrace},
	}
}

const (
	noRandom   = "the data set random is not served here; use sharegpt or gutenberg"
	noPrefixes = "the data set prefix_repetition is not served here"
)
