package dataset

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Options say which prompts to give.
type Options struct {
	// Kind is a name of Kinds; "" and "auto" mean: told from the path.
	Kind string
	// Path is a file or directory; unused by generated kinds.
	Path string
	// Column is the column of a Parquet source that holds the text; "" means "text".
	Column string
	// Language keeps only texts of this language, where the source says it.
	Language string
	// Options are the kind's own, by the names its row documents.
	Options map[string]any
	// Tokens is the prompt length as the server is to count it, special tokens included.
	Tokens int
	// OutputTokens goes with prompts whose source does not say; 0 = the scenario's.
	OutputTokens int
	// SpecialTokens is how many of Tokens the server adds by itself; see ProbeSpecialTokens.
	SpecialTokens int
	Seed          int64
	// Prompts is how many prompts the run sends, for warnings of repeats and to read no
	// more of a source than needed; 0 when unknown.
	Prompts int64
	// Salt begins each prompt with a text of its own, made from RunID and the index.
	Salt bool
	// RunID makes the salt differ from run to run; all clients of a run must have the same.
	RunID string
	// Counter counts; when nil it is made of TokenizerPath, else of ServerURL and Model,
	// else it is the approximation.
	Counter       Counter
	TokenizerPath string
	ServerURL     string
	Model         string
	// HTTP is used for ServerURL; nil means a client of its own.
	HTTP *http.Client
	// PromptFormat is "" or "text", or "token_ids", which needs TokenizerPath.
	PromptFormat string
	// CacheDir keeps cut prompts between runs; "" means no cache.
	CacheDir string
	// CacheMax bounds the cache, bytes: what was used least recently goes when prompts are
	// written. 0 means no bound.
	CacheMax int64
}

// The prompt formats.
const (
	FormatText     = "text"
	FormatTokenIDs = "token_ids"
)

// opening is Options made definite, for the kinds.
type opening struct {
	Options
	cutter cutter
	values values
}

// budget is how many tokens of a prompt are text.
func (o *opening) budget() int { return o.Tokens - o.SpecialTokens }

// Open opens prompts. Its errors name the source and say where in it the trouble is.
func Open(ctx context.Context, o Options) (Source, error) {
	kind, err := kindOf(o)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (Source, error) {
		return nil, fmt.Errorf("dataset %s: %w", strings.TrimSpace(kind.Name+" "+o.Path), err)
	}
	op := &opening{Options: o}
	op.Kind = kind.Name
	if op.values, err = kind.values(o.Options); err != nil {
		return fail(err)
	}
	if op.Counter, err = counterOf(o); err != nil {
		return fail(err)
	}
	op.cutter.counter = op.Counter
	if err := op.check(kind); err != nil {
		return fail(err)
	}
	source, err := kind.open(ctx, op)
	if err != nil {
		return fail(err)
	}
	return op.finish(ctx, source)
}

func (o *opening) check(k Kind) error {
	var errs []error
	if o.Path == "" && k.NeedsPath {
		errs = append(errs, errors.New("a path is needed"))
	}
	if k.NeedsTokens && o.budget() < 1 {
		errs = append(errs, fmt.Errorf("a prompt of %d tokens, %d of them special, cannot be cut", o.Tokens, o.SpecialTokens))
	}
	switch o.PromptFormat {
	case "", FormatText:
	case FormatTokenIDs:
		if _, ok := o.Counter.(encoder); !ok {
			errs = append(errs, errors.New("prompts as token ids need the model's tokenizer file"))
		}
	default:
		errs = append(errs, fmt.Errorf("prompt format %q is not one of %q, %q", o.PromptFormat, FormatText, FormatTokenIDs))
	}
	return errors.Join(errs...)
}

// kindOf finds the kind by name or by path.
func kindOf(o Options) (Kind, error) {
	name := o.Kind
	if name == "" || name == "auto" {
		var err error
		if name, err = Detect(o.Path); err != nil {
			return Kind{}, err
		}
	}
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("dataset type %q is not one of %s", name, strings.Join(names, ", "))
}

// Detect tells the kind from a path: by the file's ending, or by what a directory holds.
func Detect(path string) (string, error) {
	if path == "" {
		return "random", nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("dataset: %w", err)
	}
	name := strings.ToLower(filepath.Base(path))
	switch {
	case info.IsDir() && strings.Contains(name, "gutenberg"):
		return "gutenberg", nil
	case info.IsDir():
		return detectDir(path)
	case strings.HasSuffix(name, ".json"):
		return "sharegpt", nil
	case strings.HasSuffix(name, ".jsonl") && strings.Contains(name, "trace"):
		return "trace", nil
	case strings.HasSuffix(name, ".jsonl"):
		return "custom", nil
	case strings.HasSuffix(name, ".parquet"):
		return "parquet", nil
	case strings.HasSuffix(name, ".csv") && strings.Contains(name, "burst"):
		return "burstgpt", nil
	case strings.HasSuffix(name, ".csv"):
		return "trace", nil
	case strings.Contains(name, "sonnet"):
		return "sonnet", nil
	}
	return "text", nil
}

func detectDir(path string) (string, error) {
	files, err := filesBelow(path, ".parquet")
	if err != nil {
		return "", fmt.Errorf("dataset: %w", err)
	}
	if len(files) > 0 {
		return "parquet", nil
	}
	return "text", nil
}
