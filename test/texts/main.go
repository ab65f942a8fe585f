// Command texts makes the demo's text corpora from what every Go installation has, the
// comments of the standard library's sources: DIR/gutenberg/*.txt, one text a package, and
// DIR/sharegpt.json, the same as conversations.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// minComment leaves out remarks that are no text, in bytes.
const minComment = 120

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: texts DIR")
		os.Exit(1)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "texts:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "sharegpt.json")); err == nil {
		return nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	texts, err := collect(filepath.Join(strings.TrimSpace(string(out)), "src"))
	if err != nil {
		return err
	}
	if err := writeBooks(filepath.Join(dir, "gutenberg"), texts); err != nil {
		return err
	}
	return writeConversations(filepath.Join(dir, "sharegpt.json"), texts)
}

// collect returns the comments of each folder, in order.
func collect(root string) (map[string][]string, error) {
	texts := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil //nolint:nilerr // a file that does not parse has no text for us
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		texts[folder] = append(texts[folder], comments(file)...)
		return nil
	})
	return texts, err
}

func comments(file *ast.File) []string {
	var out []string
	for _, group := range file.Comments {
		text := strings.TrimSpace(group.Text())
		if len(text) >= minComment && !strings.HasPrefix(text, "Copyright") {
			out = append(out, text)
		}
	}
	return out
}

func folders(texts map[string][]string) []string {
	var names []string
	for name, t := range texts {
		if len(t) > 1 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func writeBooks(dir string, texts map[string][]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range folders(texts) {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".txt")
		if err := os.WriteFile(file, []byte(strings.Join(texts[name], "\n\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

type turn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

type conversation struct {
	ID            string `json:"id"`
	Conversations []turn `json:"conversations"`
}

func writeConversations(path string, texts map[string][]string) error {
	var all []conversation
	for _, name := range folders(texts) {
		for i := 0; i+1 < len(texts[name]); i += 2 {
			all = append(all, conversation{ID: fmt.Sprintf("%s_%d", name, i/2), Conversations: []turn{
				{"human", texts[name][i]}, {"gpt", texts[name][i+1]},
			}})
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
