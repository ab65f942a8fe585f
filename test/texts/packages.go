package main

import (
	"os"
	"path/filepath"
	"strings"
)

// packages reads every .txt file of the packages as a text of some sentences a part.
func packages(source string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(source, "datasets-*", "data", "*.txt"))
	if err != nil {
		return nil, err
	}
	texts := map[string][]string{}
	for _, f := range files {
		// The package has the book whole, too, and its table of contents.
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); name != "data" && name != "contents" {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			texts[name] = passages(string(text))
		}
	}
	return texts, nil
}

// passage is about how long a part of a text is, bytes.
const passage = 700

// passages breaks a text at ends of sentences.
func passages(text string) (out []string) {
	text = strings.TrimSpace(text)
	for len(text) > passage {
		i := strings.Index(text[passage:], ". ")
		if i < 0 {
			break
		}
		out = append(out, text[:passage+i+1])
		text = strings.TrimSpace(text[passage+i+1:])
	}
	return append(out, text)
}
