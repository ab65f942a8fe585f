package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mifbench/mifbench/pkg/bench/dataset"
)

// servedDataset is a data set of the command line.
type servedDataset struct {
	name string
	// flags are those that only this data set has; general ones may act on it as well.
	flags, general []string
	// path tells whether --dataset-path is needed; generated prompts refuse it, as upstream does.
	path bool
	// ignoreEOS tells that upstream forces --ignore-eos.
	ignoreEOS bool
	// options are what the flags mean; Tokens and OutputTokens 0 leave lengths to each prompt.
	options func(*serveFlags) (dataset.Options, error)
}

// servedDatasets is the table of data sets.
func servedDatasets() []servedDataset {
	return []servedDataset{
		{"sharegpt", []string{"sharegpt-input-len", "sharegpt-output-len"}, []string{"output-len"}, true, false, shareOptions},
		{"gutenberg", []string{"gutenberg-input-len", "gutenberg-output-len"}, []string{"output-len"}, true, false, bookOptions},
		{"random", []string{"random-input-len", "random-output-len", "random-range-ratio", "random-prefix-len"}, []string{"input-len", "output-len"}, false, true, randomOptions},
		{"sonnet", []string{"sonnet-input-len", "sonnet-output-len", "sonnet-prefix-len"}, nil, true, false, sonnetOptions},
		{"custom", []string{"custom-output-len"}, []string{"output-len", "disable-shuffle"}, true, false, customOptions},
		{
			"prefix_repetition",
			[]string{"prefix-repetition-prefix-len", "prefix-repetition-suffix-len", "prefix-repetition-num-prefixes", "prefix-repetition-output-len"},
			[]string{"output-len"}, false, false, prefixOptions,
		},
		{"burstgpt", nil, []string{"disable-shuffle"}, true, false, burstOptions},
		{
			"timed_trace", []string{
				"timed-trace-chunk-hash-size", "timed-trace-sec-multiplier", "timed-trace-label-timestamp",
				"timed-trace-label-input-length", "timed-trace-label-output-length", "timed-trace-label-hash-ids", "self-timed",
			},
			nil, true, true, traceOptions,
		},
	}
}

func (f *serveFlags) datasetRow() (servedDataset, error) {
	var names []string
	for _, d := range servedDatasets() {
		if d.name == f.dataset {
			return d, nil
		}
		names = append(names, d.name)
	}
	why := ""
	if r, ok := refusedDatasets()[f.dataset]; ok {
		why = ": " + r
	}
	return servedDataset{}, fmt.Errorf("--dataset-name %s is not part of this version%s; use one of %s", f.dataset, why, strings.Join(names, ", "))
}

// answers is the length of answers: the general flag wins over the data set's, as upstream.
func (f *serveFlags) answers(own int) int {
	if f.given("output-len") {
		return f.outputLen
	}
	return own
}

// shareOptions are the published benchmark's cuts when a prompt length is given, else
// conversations at their own lengths, as upstream takes them.
func shareOptions(f *serveFlags) (dataset.Options, error) {
	o := dataset.Options{Kind: "conversations", OutputTokens: f.answers(f.shareOut), Options: map[string]any{"shuffle": !f.noShuffle}}
	if f.given("sharegpt-input-len") {
		o.Kind, o.Tokens, o.Options = "sharegpt", f.shareIn, nil
		return o, f.exact(o, "sharegpt")
	}
	if (f.given("sharegpt-output-len") || f.given("output-len")) && o.OutputTokens < 1 {
		return o, fmt.Errorf("answers of %d tokens: --sharegpt-output-len and --output-len must be above 0", o.OutputTokens)
	}
	return o, nil
}

func bookOptions(f *serveFlags) (dataset.Options, error) {
	o := dataset.Options{Kind: "gutenberg", Tokens: f.bookIn, OutputTokens: f.answers(f.bookOut)}
	return o, f.exact(o, "gutenberg")
}

// exact checks lengths that have no default.
func (f *serveFlags) exact(o dataset.Options, name string) error {
	switch {
	case o.Tokens < 1:
		return fmt.Errorf("--%s-input-len is needed and must be above 0: how long prompts are", name)
	case o.OutputTokens < 1:
		return fmt.Errorf("--%s-output-len is needed and must be above 0: how long answers are", name)
	case f.noShuffle:
		return fmt.Errorf("--disable-shuffle: prompts cut from %s are taken in the seed's order; leave it out", name)
	}
	return nil
}

func randomOptions(f *serveFlags) (dataset.Options, error) {
	in := f.randomIn
	if f.given("input-len") {
		in = f.inputLen
	}
	input, output, err := rangeRatio(f.randomRange)
	if err == nil && (in < 1 || f.answers(f.randomOut) < 1 || f.randomPrefix < 0) {
		err = fmt.Errorf("prompts of %d tokens after a prefix of %d and answers of %d: --random-input-len and --random-output-len must be above 0, --random-prefix-len not below", in, f.randomPrefix, f.answers(f.randomOut))
	}
	return dataset.Options{
		Kind: "random", Tokens: in, OutputTokens: f.answers(f.randomOut),
		Options: map[string]any{"range_ratio": input, "output_range_ratio": output, "prefix_len": f.randomPrefix},
	}, err
}

// rangeRatio reads a number, or {"input": …, "output": …}.
func rangeRatio(s string) (input, output float64, err error) {
	if x, e := strconv.ParseFloat(s, 64); e == nil {
		input, output = x, x
	} else {
		var both struct{ Input, Output *float64 }
		if e := json.Unmarshal([]byte(s), &both); e != nil || both.Input == nil || both.Output == nil {
			return 0, 0, fmt.Errorf(`--random-range-ratio %q is neither a number nor {"input": 0.1, "output": 0.2}`, s)
		}
		input, output = *both.Input, *both.Output
	}
	if !(input >= 0 && input < 1 && output >= 0 && output < 1) {
		return 0, 0, fmt.Errorf("--random-range-ratio %s is not within [0, 1)", s)
	}
	return input, output, nil
}

func sonnetOptions(f *serveFlags) (dataset.Options, error) {
	var err error
	if f.sonnetPrefix < 0 || f.sonnetIn <= f.sonnetPrefix || f.sonnetOut < 1 {
		err = fmt.Errorf("prompts of %d tokens with a prefix of %d and answers of %d: --sonnet-input-len must be above --sonnet-prefix-len, --sonnet-output-len above 0", f.sonnetIn, f.sonnetPrefix, f.sonnetOut)
	}
	return dataset.Options{Kind: "sonnet", Tokens: f.sonnetIn, OutputTokens: f.sonnetOut, Options: map[string]any{"prefix_len": f.sonnetPrefix}}, err
}

// customOptions: -1 means each row's own output_tokens; see ownAnswers and fixedAnswers.
func customOptions(f *serveFlags) (dataset.Options, error) {
	out := f.answers(f.customOut)
	if out < 1 && out != -1 {
		return dataset.Options{}, fmt.Errorf("--custom-output-len %d must be above 0, or -1 for each row's own output_tokens", out)
	}
	return dataset.Options{Kind: "custom", OutputTokens: max(out, 0)}, nil
}

func prefixOptions(f *serveFlags) (dataset.Options, error) {
	out := f.answers(f.prefixOut)
	var err error
	switch {
	case f.prefixLen < 1 || f.suffixLen < 1 || f.prefixes < 1 || out < 1:
		err = fmt.Errorf("%d prefixes of %d tokens with %d of their own and answers of %d: the --prefix-repetition lengths and the number must be above 0", f.prefixes, f.prefixLen, f.suffixLen, out)
	case f.numPrompts < int64(f.prefixes):
		err = fmt.Errorf("--num-prompts %d is below --prefix-repetition-num-prefixes %d: a prefix would go unused", f.numPrompts, f.prefixes)
	}
	return dataset.Options{
		Kind: "prefix_repetition", OutputTokens: out,
		Options: map[string]any{"prefix_len": f.prefixLen, "suffix_len": f.suffixLen, "num_prefixes": f.prefixes},
	}, err
}

func burstOptions(*serveFlags) (dataset.Options, error) {
	return dataset.Options{Kind: "burstgpt"}, nil
}

// traceOptions: times are seconds after the multiplier, where the kind trace reads ms.
func traceOptions(f *serveFlags) (dataset.Options, error) {
	if f.traceBlock < 1 || !(f.traceSeconds > 0) {
		return dataset.Options{}, fmt.Errorf("--timed-trace-chunk-hash-size %d and --timed-trace-sec-multiplier %v must be above 0", f.traceBlock, f.traceSeconds)
	}
	if f.backend == "openai-chat" {
		return dataset.Options{}, fmt.Errorf("--dataset-name timed_trace is for completions, as upstream: use --backend vllm or openai")
	}
	return dataset.Options{Kind: "trace", Options: map[string]any{
		"block_tokens": f.traceBlock, "speed": 1 / (1000 * f.traceSeconds), "timestamp_key": f.traceKeys[0],
		"input_key": f.traceKeys[1], "output_key": f.traceKeys[2], "blocks_key": f.traceKeys[3],
	}}, nil
}
