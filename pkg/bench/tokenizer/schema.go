package tokenizer

import "encoding/json"

// file is the part of tokenizer.json that decides ids.
type file struct {
	AddedTokens   []added         `json:"added_tokens"`
	Normalizer    *normalizerSpec `json:"normalizer"`
	PreTokenizer  *preSpec        `json:"pre_tokenizer"`
	PostProcessor *postSpec       `json:"post_processor"`
	Model         modelSpec       `json:"model"`
}

type added struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Lstrip     bool   `json:"lstrip"`
	Rstrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type patternSpec struct {
	Regex  *string
	String *string
}

type normalizerSpec struct {
	Type        string           `json:"type"`
	Normalizers []normalizerSpec `json:"normalizers"`
	Prepend     string           `json:"prepend"`
	Pattern     patternSpec      `json:"pattern"`
	Content     string           `json:"content"`
}

type preSpec struct {
	Type             string      `json:"type"`
	PreTokenizers    []preSpec   `json:"pretokenizers"`
	Pattern          patternSpec `json:"pattern"`
	Behavior         string      `json:"behavior"`
	Invert           bool        `json:"invert"`
	AddPrefixSpace   bool        `json:"add_prefix_space"`
	UseRegex         *bool       `json:"use_regex"`
	IndividualDigits bool        `json:"individual_digits"`
}

type postSpec struct {
	Type       string     `json:"type"`
	Processors []postSpec `json:"processors"`
	Single     []struct {
		SpecialToken *struct {
			ID string `json:"id"`
		}
	} `json:"single"`
}

type modelSpec struct {
	Type                    string           `json:"type"`
	Vocab                   map[string]int32 `json:"vocab"`
	Merges                  json.RawMessage  `json:"merges"`
	Dropout                 *float64         `json:"dropout"`
	UnkToken                *string          `json:"unk_token"`
	ContinuingSubwordPrefix *string          `json:"continuing_subword_prefix"`
	EndOfWordSuffix         *string          `json:"end_of_word_suffix"`
	FuseUnk                 bool             `json:"fuse_unk"`
	ByteFallback            bool             `json:"byte_fallback"`
	IgnoreMerges            bool             `json:"ignore_merges"`
}
