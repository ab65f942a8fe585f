package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// configFile is the part of tokenizer_config.json that says what is added to a prompt.
type configFile struct {
	AddBOS       *bool           `json:"add_bos_token"`
	AddEOS       *bool           `json:"add_eos_token"`
	BOS          json.RawMessage `json:"bos_token"`
	ChatTemplate json.RawMessage `json:"chat_template"`
}

// readConfig fills Facts; a file that is not there is no error.
func (t *Tokenizer) readConfig(path string) error {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var c configFile
	if err := json.Unmarshal(src, &c); err != nil {
		return err
	}
	if id, ok := t.id(tokenText(c.BOS)); ok {
		t.facts.BOS = id
	}
	if t.facts.Added == 0 {
		t.facts.Added = count(c.AddBOS) + count(c.AddEOS)
	}
	// The template is a string, or a list of named ones; only the former is kept.
	if err := json.Unmarshal(c.ChatTemplate, &t.facts.ChatTemplate); err != nil {
		t.facts.ChatTemplate = ""
	}
	return nil
}

func count(yes *bool) int {
	if yes != nil && *yes {
		return 1
	}
	return 0
}

// tokenText reads a token written as a string or as {"content": …}.
func tokenText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(raw, &o) == nil {
		return o.Content
	}
	return ""
}

// id finds an added token by its text.
func (t *Tokenizer) id(content string) (int32, bool) {
	for _, m := range []*matcher{&t.raw, &t.normed} {
		if start, end, a, ok := m.find(content, 0); ok && start == 0 && end == len(content) {
			return a.ID, true
		}
	}
	return 0, false
}

// post counts what the post-processor adds to one text.
func (t *Tokenizer) post(p *postSpec) error {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.Processors {
			if err := t.post(&p.Processors[i]); err != nil {
				return err
			}
		}
	case "ByteLevel":
	case "TemplateProcessing":
		for _, s := range p.Single {
			if s.SpecialToken == nil {
				continue
			}
			t.facts.Added++
			if id, ok := t.id(s.SpecialToken.ID); ok && t.facts.BOS < 0 {
				t.facts.BOS = id
			}
		}
	default:
		return fmt.Errorf("post_processor %q is not supported; Sequence, ByteLevel and TemplateProcessing are", p.Type)
	}
	return nil
}
