package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"
)

// bindDataset has upstream's defaults.
func (f *serveFlags) bindDataset(fs *pflag.FlagSet) {
	fs.StringVar(&f.dataset, "dataset-name", "random", "where prompts come from: "+datasetNames())
	fs.StringVar(&f.path, "dataset-path", "", "file or directory of the data set")
	fs.BoolVar(&f.noOversample, "no-oversample", false, "send a data set that is too small once, not again")
	fs.BoolVar(&f.noShuffle, "disable-shuffle", false, "keep the file's order")
	fs.IntVar(&f.shareIn, "sharegpt-input-len", 0, "prompts cut to this length (the published benchmark's); conversations at their own lengths when absent")
	fs.IntVar(&f.shareOut, "sharegpt-output-len", 0, "answer length; the conversation's own when absent")
	fs.IntVar(&f.bookIn, "gutenberg-input-len", 0, "prompt length (the published benchmark's)")
	fs.IntVar(&f.bookOut, "gutenberg-output-len", 0, "answer length (the published benchmark's)")
	fs.IntVar(&f.randomIn, "random-input-len", 1024, "prompt length, without the prefix")
	fs.IntVar(&f.randomOut, "random-output-len", 128, "answer length")
	fs.StringVar(&f.randomRange, "random-range-ratio", "0.0", `lengths vary uniformly by this share: a number, or {"input": 0.1, "output": 0.2}`)
	fs.IntVar(&f.randomPrefix, "random-prefix-len", 0, "tokens that all prompts share, before their own")
	fs.IntVar(&f.sonnetIn, "sonnet-input-len", 550, "prompt length, the prefix included")
	fs.IntVar(&f.sonnetOut, "sonnet-output-len", 150, "answer length")
	fs.IntVar(&f.sonnetPrefix, "sonnet-prefix-len", 200, "tokens that all prompts share")
	fs.IntVar(&f.customOut, "custom-output-len", 256, "answer length; -1 takes each row's output_tokens")
	fs.IntVar(&f.prefixLen, "prefix-repetition-prefix-len", 256, "tokens of a prefix")
	fs.IntVar(&f.suffixLen, "prefix-repetition-suffix-len", 256, "tokens of a prompt's own")
	fs.IntVar(&f.prefixes, "prefix-repetition-num-prefixes", 10, "number of prefixes")
	fs.IntVar(&f.prefixOut, "prefix-repetition-output-len", 128, "answer length")
	fs.BoolVar(&f.selfTimed, "self-timed", false, "send at the trace's times; on for timed_trace unless --no-self-timed")
	fs.IntVar(&f.traceBlock, "timed-trace-chunk-hash-size", 16, "tokens that one of the hash ids stands for")
	fs.Float64Var(&f.traceSeconds, "timed-trace-sec-multiplier", 1, "seconds that 1 of the timestamps stands for")
	for i, l := range [][2]string{{"timestamp", "timestamp"}, {"input-length", "input_length"}, {"output-length", "output_length"}, {"hash-ids", "hash_ids"}} {
		fs.StringVar(&f.traceKeys[i], "timed-trace-label-"+l[0], l[1], "key in the trace's lines")
	}
}

func datasetNames() string {
	text := ""
	for i, d := range servedDatasets() {
		if i > 0 {
			text += ", "
		}
		text += d.name
	}
	return text
}

// checkDataset reports mistakes about the data set before anything is asked of a server.
func (f *serveFlags) checkDataset() error {
	row, err := f.datasetRow()
	if err != nil {
		return err
	}
	_, err = row.options(f)
	if row.path == (f.path == "") {
		err = errors.Join(err, pathError(row))
	}
	if row.name != "timed_trace" && f.given("self-timed") {
		err = errors.Join(err, errors.New("--self-timed and --no-self-timed are for --dataset-name timed_trace, as upstream"))
	}
	return err
}

// ignoresEOS tells whether answers go on to their length whatever the model says.
func (f *serveFlags) ignoresEOS() bool {
	row, err := f.datasetRow()
	return f.ignoreEOS || err == nil && row.ignoreEOS
}

// notes name what was given and has nothing to act on.
func (f *serveFlags) notes() []string {
	var out []string
	add := func(is bool, text string) {
		if is {
			out = append(out, text)
		}
	}
	add(f.perWorker > 0, "--max-connections-per-worker has nothing to divide: one process holds every connection")
	add(f.trustCode, "--trust-remote-code has no effect: no code of a model is ever run")
	add(f.tokenizerMode != "auto", "--tokenizer-mode has no effect: there is one implementation")
	add(f.skipTemplate, "--skip-chat-template has no effect: prompts are never put into a chat template here")
	add(f.dataset == "custom" && !f.skipTemplate, "prompts are sent as the file has them; upstream puts them into the tokenizer's chat template unless --skip-chat-template")
	add(f.dataset == "sonnet" && f.backend != "openai-chat", "prompts are sent without the chat template that upstream puts them into for completions")
	add(f.detailed && (f.save || f.appendTo), "--save-detailed: generated texts are not recorded, generated_texts holds empty strings")
	add(f.detailed && !f.save && !f.appendTo, "--save-detailed has no effect without --save-result or --append-result")
	for _, name := range listed(f.percentileMetrics) {
		add(name == "tps", "--percentile-metrics tps has no section in the block, as in the published logs; mifbench report shows it")
	}
	row, err := f.datasetRow()
	add(err == nil && row.ignoreEOS && !f.ignoreEOS, "answers are generated to their whole length (ignore_eos), as upstream does with --dataset-name "+f.dataset)
	return append(out, f.idle()...)
}

// idle names flags of other data sets.
func (f *serveFlags) idle() []string {
	var out []string
	mine, _ := f.datasetRow()
	acts := append(slices.Clone(mine.flags), mine.general...)
	if mine.name == "sharegpt" {
		acts = append(acts, "disable-shuffle")
	}
	all := []string{"input-len", "output-len", "disable-shuffle"}
	for _, d := range servedDatasets() {
		all = append(all, d.flags...)
	}
	for _, name := range all {
		if f.given(name) && !slices.Contains(acts, name) && !(name == "disable-shuffle" && mine.name == "gutenberg") {
			out = append(out, "--"+name+" has no effect with --dataset-name "+f.dataset)
		}
	}
	return out
}
