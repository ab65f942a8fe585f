package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// minComment leaves out remarks that are no text, in bytes.
const minComment = 120

// goComments are the comments of the Go installation's sources, a text a folder: what there
// is where the packages cannot be had.
func goComments() (map[string][]string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	texts := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
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
