package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/mifbench/mifbench/pkg/config"
)

type formatFlags struct {
	check, diff, recursive, write, list bool
}

func (a *app) formatCommand() *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use:   "fmt [FILE|DIRECTORY|-]…",
		Short: "Rewrite configuration files in the canonical layout",
		Long: `Formats *.mif.hcl and *.mifvars files and lists those that it changed. Without arguments it
works on the directory of --chdir; - formats standard input to standard output. Comments
stay. A file with syntax errors is left alone and reported.

With --check nothing is written, and the exit code is 1 when a file is not formatted.`,
		Example: `  mifbench fmt
  mifbench fmt --check --diff --recursive
  mifbench fmt - < stack.mif.hcl`,
		RunE: func(_ *cobra.Command, args []string) error { return a.format(args, f) },
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.check, "check", false, "write nothing; exit 1 when a file is not formatted")
	fs.BoolVar(&f.diff, "diff", false, "show what changes")
	fs.BoolVar(&f.recursive, "recursive", false, "directories below, too")
	fs.BoolVar(&f.write, "write", true, "write the files")
	fs.BoolVar(&f.list, "list", true, "list the files that change")
	return cmd
}

func (a *app) format(args []string, f formatFlags) error {
	if len(args) == 1 && args[0] == "-" {
		return a.formatInput(f)
	}
	files, err := a.formatFiles(args, f.recursive)
	if err != nil {
		return err
	}
	changed, failed := 0, false
	for _, name := range files {
		one, err := a.formatFile(name, f)
		if err != nil {
			failed = true
			a.explain(err)
			continue
		}
		if one {
			changed++
		}
	}
	if failed || f.check && changed > 0 {
		return quiet(exitFailed)
	}
	return nil
}

func (a *app) formatInput(f formatFlags) error {
	src, err := io.ReadAll(io.LimitReader(a.env.Stdin, config.DefaultLimits().FileSize+1))
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	out, err := a.formatted("<stdin>", src)
	if err != nil {
		return err
	}
	same := bytes.Equal(src, out)
	switch {
	case f.diff:
		_, err = io.WriteString(a.env.Stdout, lineDiff("<stdin>", src, out))
	case !f.check:
		_, err = a.env.Stdout.Write(out)
	}
	if err == nil && f.check && !same {
		return quiet(exitFailed)
	}
	return err
}

// formatFile tells whether the file changes.
func (a *app) formatFile(name string, f formatFlags) (bool, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	out, err := a.formatted(name, src)
	if err != nil || bytes.Equal(src, out) {
		return false, err
	}
	if f.list {
		fmt.Fprintln(a.env.Stdout, filepath.ToSlash(name))
	}
	if f.diff {
		fmt.Fprint(a.env.Stdout, lineDiff(filepath.ToSlash(name), src, out))
	}
	if f.check || !f.write {
		return true, nil
	}
	return true, replaceFile(name, out)
}

func (a *app) formatted(name string, src []byte) ([]byte, error) {
	if limit := config.DefaultLimits().FileSize; int64(len(src)) > limit {
		return nil, fmt.Errorf("%s is larger than %d MiB; such files are not read", name, limit>>20)
	}
	out, diags := config.Format(src, name)
	if diags.HasErrors() {
		shown := &config.Config{Files: map[string]*hcl.File{name: {Bytes: src}}}
		return nil, a.diagnose(shown, diags)
	}
	return out, nil
}

// replaceFile writes beside the file and renames, so that an interrupted write loses nothing.
func replaceFile(name string, content []byte) (err error) {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), ".fmt-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, werr := tmp.Write(content)
	if err := errors.Join(werr, tmp.Chmod(info.Mode().Perm()), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), real)
}

// formatFiles are the files that the arguments mean, relative to the configuration's directory.
func (a *app) formatFiles(args []string, recursive bool) ([]string, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	var out []string
	for _, arg := range args {
		path := arg
		if !filepath.IsAbs(arg) {
			path = filepath.Join(a.chdir, arg)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if !formattable(path) {
				return nil, fmt.Errorf("%s is not a *.mif.hcl or *.mifvars file", arg)
			}
			out = append(out, path)
			continue
		}
		found, err := filesBelow(path, recursive)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func filesBelow(root string, recursive bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (!recursive || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case !d.IsDir() && formattable(path):
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

func formattable(path string) bool {
	return strings.HasSuffix(path, ".mif.hcl") || strings.HasSuffix(path, ".mifvars")
}
