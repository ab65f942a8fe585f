package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Suffix ends the name of every configuration file.
const Suffix = ".mif.hcl"

// reader reads files within limits and remembers what it read for the hash.
type reader struct {
	limits Limits
	read   map[string][]byte
	files  map[string]*hcl.File
	// values are the variables files among read.
	values map[string]bool
	// broken is set when a configuration file has a syntax error; syntax are the files.
	broken bool
	syntax map[string]bool
}

func newReader(l Limits) *reader {
	return &reader{limits: l, read: map[string][]byte{}, files: map[string]*hcl.File{}, syntax: map[string]bool{}, values: map[string]bool{}}
}

// bytes is the content of a regular file within the size limit.
func (r *reader) bytes(path string) ([]byte, error) {
	if b, ok := r.read[path]; ok {
		return b, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, readable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, readable(path, err)
	}
	defer f.Close() //nolint:errcheck // only read from
	b, err := io.ReadAll(io.LimitReader(f, r.limits.FileSize+1))
	if err != nil {
		return nil, readable(path, err)
	}
	if int64(len(b)) > r.limits.FileSize {
		return nil, fmt.Errorf("%s is larger than the limit of %d MiB", path, r.limits.FileSize>>20)
	}
	r.read[path] = b
	return b, nil
}

// readable turns an operating system error into words.
func readable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no file exists at %s", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be read by this user", path)
	case strings.Contains(err.Error(), "too many levels of symbolic links"):
		return fmt.Errorf("%s is a symbolic link that leads back to itself", path)
	}
	return fmt.Errorf("%s cannot be read: %w", path, err)
}

// directory parses every configuration file of a directory, in the order of their names.
func (r *reader) directory(dir string) ([]*hclsyntax.Body, hcl.Diagnostics) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unreadable directory", Detail: sentence(readable(dir, err))}}
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Suffix) && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	sort.Strings(names)
	if d := r.tooManyOrNone(dir, names); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	var diags hcl.Diagnostics
	var bodies []*hclsyntax.Body
	for _, name := range names {
		body, d := r.parse(name)
		diags = append(diags, d...)
		if body != nil {
			bodies = append(bodies, body)
		}
	}
	return bodies, diags
}

func (r *reader) tooManyOrNone(dir string, names []string) *hcl.Diagnostic {
	switch {
	case len(names) == 0:
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No configuration files",
			Detail: fmt.Sprintf("The directory %s holds no file whose name ends in %s. Run mifbench init to write a starter, or pass --chdir.", dir, Suffix)}
	case len(names) > r.limits.Files:
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Too many configuration files",
			Detail: fmt.Sprintf("The directory %s holds %d files ending in %s; at most %d are read. Is it the right directory?", dir, len(names), Suffix, r.limits.Files)}
	}
	return nil
}

// parse reads one native-syntax file. A body comes back even with syntax errors, so that
// the rest of the file is checked too.
func (r *reader) parse(name string) (*hclsyntax.Body, hcl.Diagnostics) {
	src, err := r.bytes(name)
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unreadable configuration file", Detail: sentence(err)}}
	}
	shown := r.shown(name)
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // editors of some systems write one
	r.files[shown] = &hcl.File{Bytes: src}
	if d := checkDepth(src, shown, r.limits.Depth); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	file, diags := hclsyntax.ParseConfig(src, shown, hcl.InitialPos)
	if diags.HasErrors() {
		diags = explainSyntax(src, shown, diags)
		r.broken, r.syntax[shown] = true, true
	}
	if file == nil {
		return nil, diags
	}
	r.files[shown] = file
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		panic(fmt.Sprintf("config: native syntax gives a body of %T", file.Body))
	}
	return body, diags
}

// outsideBroken keeps what was found in files without syntax errors, and those errors.
func (r *reader) outsideBroken(in hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range in {
		if d.Subject == nil || !r.syntax[d.Subject.Filename] || d.Extra == syntaxError {
			out = append(out, d)
		}
	}
	return out
}

// shown is the name of a file in ranges and messages: as the user gave the directory.
func (r *reader) shown(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// sentence makes an error text fit a diagnostic's detail.
func sentence(err error) string {
	s := err.Error()
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
