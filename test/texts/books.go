package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// book is a row of Project Gutenberg's shards.
type book struct {
	ID   string `parquet:"id"`
	Text string `parquet:"text"`
}

// writeBooks writes one shard, named as those on Hugging Face are, with Project Gutenberg's
// marks around each text.
func writeBooks(dir string, texts map[string][]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var rows []book
	for _, name := range names(texts) {
		rows = append(rows, book{name, fmt.Sprintf("%s\n\n*** START OF THE PROJECT GUTENBERG EBOOK %s ***\n\n%s\n\n*** END OF THE PROJECT GUTENBERG EBOOK %s ***\n",
			name, strings.ToUpper(name), strings.Join(texts[name], "\n\n"), strings.ToUpper(name))})
	}
	return parquet.WriteFile(filepath.Join(dir, "en-00000-of-00001.parquet"), rows, parquet.Compression(&parquet.Snappy))
}
