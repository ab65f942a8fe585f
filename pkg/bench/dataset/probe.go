package dataset

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// ProbeOptions say which server to ask and with what to compare its counts.
type ProbeOptions struct {
	ServerURL, Model string
	// Local counts without special tokens; nil means that the server itself is the counter.
	Local Counter
	// Usage, when not nil, gives the server's usage.prompt_tokens for a prompt, by sending
	// it as the run would. It replaces /tokenize, and is the only way for a chat template.
	Usage func(ctx context.Context, text string) (int, error)
	HTTP  *http.Client
}

// ProbeSpecialTokens finds how many tokens the server adds to a prompt. It asks for texts
// of different lengths: when the difference is not the same for all, the server's
// tokenizer is not the local one, and the error says so.
func ProbeSpecialTokens(ctx context.Context, o ProbeOptions) (int, error) {
	server := NewServerCounter(o.ServerURL, o.Model, o.HTTP)
	count := server.withSpecial().Count
	if o.Usage != nil {
		count = o.Usage
	}
	local := o.Local
	if local == nil {
		local = server
	}
	special, first := 0, ""
	for i, text := range probeTexts() {
		theirs, err := count(ctx, text)
		if err != nil {
			return 0, err
		}
		ours, err := local.Count(ctx, text)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			special, first = theirs-ours, text
		}
		if theirs-ours != special || special < 0 {
			return 0, errors.Join(ErrTokenizerDiffers, fmt.Errorf("%.30q: the server counts %d tokens, %s gives %d; %.30q: difference %d; "+
				"the server loads another tokenizer or another version of it (transformers 5 with DeepSeek drops spaces), or the file is another model's", text, theirs, local.Rule().Text, ours, first, special))
		}
	}
	return special, nil
}

// ErrTokenizerDiffers says that the server's counts are not those of the local tokenizer.
var ErrTokenizerDiffers = errors.New("the server's tokenizer is not the local one")

// probeTexts differ in length and in what tokenizers disagree about.
func probeTexts() []string {
	return []string{
		"Hello",
		"The quick brown fox jumps over the lazy dog, and 12345 other things happen.",
		"Spaces  and\n\nnew lines; tabs\tand numbers 3.14159, names like Müller and 東京.",
	}
}
