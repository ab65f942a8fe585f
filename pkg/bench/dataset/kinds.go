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
		{Name: "gutenberg", Summary: "Books: a directory of Project Gutenberg's Parquet shards or .txt files.", NeedsPath: true, NeedsTokens: true, open: openGutenberg},
		{Name: "parquet", Summary: "A Parquet file or a directory of shards, text in a column.", NeedsPath: true, NeedsTokens: true, open: openParquet},
		{Name: "sharegpt", Summary: "Conversations of a ShareGPT JSON file, human and model turns, cut to length.", NeedsPath: true, NeedsTokens: true, open: openShareGPT},
		{Name: "text", Summary: "Text files, end to end, cut to length.", NeedsPath: true, NeedsTokens: true, open: openText},
	}
}
