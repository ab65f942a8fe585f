package dataset

import "context"

// Kind is a row of the table of datasets.
type Kind struct {
	// Name is the type's name in configurations.
	Name string
	// Summary is one sentence for the reference.
	Summary string
	// NeedsPath is false for generated prompts.
	NeedsPath bool
	// NeedsTokens is true when the prompt length is the scenario's, not the source's.
	NeedsTokens bool
	Options     []OptionDoc
	open        func(context.Context, *opening) (Source, error)
}

// Kinds is the table of datasets, sorted by name.
func Kinds() []Kind {
	return []Kind{
		{"burstgpt", "Lengths (and times, on request) of the BurstGPT trace's CSV.", true, false, burstOptions(), openBurstGPT},
		{"conversations", "First turns of a ShareGPT file's conversations at their own lengths, as vLLM samples it.", true, false, conversationOptions(), openConversations},
		{"custom", "JSON lines with prompt and output_tokens, as vLLM reads them, or a file that dataset build made; taken as they are.", true, false, nil, openCustom},
		{"gutenberg", "Books: a directory of Project Gutenberg's Parquet shards or .txt files, cut to length.", true, true, nil, openGutenberg},
		{"parquet", "A Parquet file or a directory of shards, text in a column, cut to length.", true, true, nil, openParquet},
		{"prefix_repetition", "Groups of prompts that share a prefix, as in vLLM.", false, false, prefixRepetitionOptions(), openPrefixRepetition},
		{"random", "Random tokens of the tokenizer, or made-up words without one, cut to length.", false, true, randomOptions(), openRandom},
		{"shared_prefix", "Prompts with a declared prefix-cache hit rate.", false, true, sharedPrefixOptions(), openSharedPrefix},
		{"sharegpt", "Conversations of a ShareGPT JSON file, human and model turns, cut to length.", true, true, nil, openShareGPT},
		{"sonnet", "Lines of a poem in random order after a shared prefix, cut to length.", true, true, sonnetOptions(), openSonnet},
		{"text", "Text files laid end to end, cut to length.", true, true, nil, openText},
		{"trace", "A request trace with times: Mooncake's JSON lines or Azure's CSV.", true, false, traceOptions(), openTrace},
	}
}
